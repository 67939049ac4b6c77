import { artifactIdOf } from '#libs/core';
import { endCell, keepOutput, readArtifact, spillOutput, spillStoppedOutput, stopCell } from '#libs/persistence';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreFixture } from './store-fixture.js';

describe('rows of artifacts', () => {
  let store: StoreFixture;
  beforeAll(async () => (store = await StoreFixture.create()));
  afterAll(() => store[Symbol.asyncDispose]());

  const started = async () => {
    const { cellId } = await store.insert();
    const claimed = await store.claim(cellId);
    if (!claimed) throw new Error('the cell was not claimed');
    return claimed;
  };
  const image = (cellId: string, content: string) => ({
    kind: 'image' as const,
    data: Buffer.from(content).toString('base64'),
    mimeType: 'image/png',
    artifactId: artifactIdOf(cellId, content),
  });
  const keptOf = async (cellId: string): Promise<string[]> => {
    const text = "SELECT kind, convert_from(bytes, 'UTF8') AS text FROM artifacts WHERE cell_id = $1 ORDER BY text";
    const rows = await store.db.query<{ kind: string; text: string }>({ name: 'kept-of', text }, [cellId]);
    return rows.map((row) => `${row.kind} ${row.text}`);
  };

  it('hold each image of a cell once, whether it was spilled or came with the end', async () => {
    const { cellId } = await started();
    const [one, two] = [image(cellId, 'one'), image(cellId, 'two')];
    await spillOutput(store.db, store.ref(cellId), { first: 0, items: [one, one] });
    expect(await keptOf(cellId)).toEqual(['image one']);
    await endCell(store.db, store.ref(cellId), {
      state: 'failed',
      warnings: [],
      cpuMs: 1,
      output: { first: 2, items: [one, two] },
    });
    expect(await keptOf(cellId)).toEqual(['image one', 'image two']);
  });

  it('hold nothing that a stopped script showed later, and what it had shown before', async () => {
    const claimed = await started();
    const { cellId } = claimed;
    await stopCell(store.db, store.owner, cellId);
    const late = [image(cellId, 'late')];
    expect(await spillOutput(store.db, store.ref(cellId), { first: 0, items: late })).toBeUndefined();
    expect(await store.end(claimed, [], late)).toBeUndefined();
    expect(await keptOf(cellId)).toEqual([]);
    await spillStoppedOutput(store.db, store.ref(cellId), { first: 0, items: [image(cellId, 'before')] }, 1);
    await spillStoppedOutput(store.db, store.ref(cellId), { first: 1, items: late }, 1);
    expect(await keptOf(cellId)).toEqual(['image before']);
  });

  it('hold nothing of a worker that no longer has the cell', async () => {
    const claimed = await started();
    const items = [image(claimed.cellId, 'stale')];
    expect(
      await spillOutput(store.db, { ...store.ref(claimed.cellId), stretch: 2 }, { first: 0, items }),
    ).toBeUndefined();
    expect(await keptOf(claimed.cellId)).toEqual([]);
  });

  it('hold a full text once, however many processes give the answer, and go with their cell', async () => {
    const claimed = await started();
    const { cellId } = claimed;
    await store.end(claimed, [], [image(cellId, 'shown')]);
    const cell = { cellId, tenantId: store.owner.tenantId };
    const artifactId = artifactIdOf(cellId, 'output');
    const bytes = Buffer.alloc(1_500_000, 'whole ');
    const keep = () => keepOutput(store.db, cell, { artifactId, bytes });
    await Promise.all(Array.from({ length: 8 }, keep));
    await keepOutput(store.db, { ...cell, tenantId: 't_other' }, { artifactId: 'a_other', bytes: Buffer.from('x') });
    expect(await keptOf(cellId)).toEqual(['image shown', `output ${bytes.toString()}`]);
    expect(await readArtifact(store.db, { ...store.owner, epoch: store.owner.epoch + 1 }, artifactId)).toBeUndefined();
    const artifact = await readArtifact(store.db, store.owner, artifactId);
    expect(artifact).toMatchObject({ mimeType: 'text/plain; charset=utf-8', size: 1_500_000 });
    await store.db.query({ name: 'delete-cell', text: 'DELETE FROM cells WHERE id = $1' }, [cellId]);
    expect(await keptOf(cellId)).toEqual([]);
    // Whoever was reading it is told, instead of getting a shorter file.
    const pieces: Buffer[] = [];
    await expect(async () => {
      for await (const piece of artifact?.pieces() ?? []) pieces.push(piece);
    }).rejects.toThrow('deleted');
    expect(Buffer.concat(pieces).equals(bytes.subarray(0, 1_048_576))).toBe(true);
  });
});

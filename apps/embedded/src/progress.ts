/** Tells the person who waits what is going on. */
export interface Progress {
  /** Says what is being done while `work` does it, and how long it took. */
  step: <T>(label: string, work: () => Promise<T>) => Promise<T>;
  line: (text: string) => void;
}

/** Progress on a terminal or in a log. */
export const progress: Progress = {
  async step(label, work) {
    process.stdout.write(`${label} ... `);
    const start = performance.now();
    try {
      const result = await work();
      console.log(`${((performance.now() - start) / 1000).toFixed(1)} s`);
      return result;
    } catch (error) {
      console.log('failed');
      throw error;
    }
  },
  line: (text) => console.log(text),
};

import { Injectable } from '@nestjs/common';

/** Whether this process is about to end: it takes no new work and is not ready. */
@Injectable()
export class Draining {
  #begun = false;

  get begun(): boolean {
    return this.#begun;
  }

  begin(): void {
    this.#begun = true;
  }
}

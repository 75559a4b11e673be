// How evenly turns share the messages, as Jain's index over the recent ones. Fed once per turn; older turns fade.

const span = 1024

export class Fairness {
  #turns = 0
  #sum = 0
  #squares = 0
  add(messages: number): void {
    this.#sum += messages
    this.#squares += messages * messages
    if (++this.#turns < span) return
    this.#turns /= 2
    this.#sum /= 2
    this.#squares /= 2
  }
  /** From 1/n, where one of n took everything, to 1, where all took alike; 1 before anything happened. */
  get score(): number {
    return this.#squares === 0 ? 1 : (this.#sum * this.#sum) / (this.#turns * this.#squares)
  }
}

// How evenly turns share the messages, as Jain's index over the recent ones. Fed once per drain with the sums of its
// turns, so that a turn costs no more than an addition; older turns fade.

const span = 1024

export class Fairness {
  #turns = 0
  #sum = 0
  #squares = 0
  /** Turns that handled messages, how many those were, and the sum of their squares. */
  add(turns: number, messages: number, squares: number): void {
    this.#turns += turns
    this.#sum += messages
    this.#squares += squares
    while (this.#turns >= span) {
      this.#turns /= 2
      this.#sum /= 2
      this.#squares /= 2
    }
  }
  /** From 1/n, where one of n took everything, to 1, where all took alike; 1 before anything happened. */
  get score(): number {
    return this.#squares === 0 ? 1 : (this.#sum * this.#sum) / (this.#turns * this.#squares)
  }
}

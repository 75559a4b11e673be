// The canvas: every drone a dot, where its curve has it at this moment. Dots are written into one image, so that ten thousand of them cost a
// few milliseconds; storms, crashes and the cross are drawn over it.

const rowBytes = 23
const trail = [70, 140, 210, 280, 350, 420]
const tones = {
  light: { resting: '#6fae8d', planning: '#c27803', carrying: '#1f5fd0', homeward: '#9a9fd8', restarting: '#d4281f', stopped: '#7d8794' },
  dark: { resting: '#3d7a60', planning: '#f2b04b', carrying: '#7fb4ff', homeward: '#6f76c4', restarting: '#ff6558', stopped: '#7a8593' },
}
const ground = {
  light: { back: '#fbfcfd', hill: '120, 140, 160', grid: '#eef1f4', depot: '#55616f' },
  dark: { back: '#0a0f16', hill: '140, 165, 200', grid: '#121923', depot: '#9fb0c3' },
}
/** Districts have the colour of their node, where there are several. */
const nodeTones = {
  light: ['#7c5cc4', '#0f8a7e', '#c06a1f', '#3f6fb5', '#a3417a', '#6b7a1f', '#8a5a3c', '#4b5a6b'],
  dark: ['#a78bfa', '#2dd4bf', '#f0a35e', '#7fb0ff', '#f08cc4', '#c5d45e', '#d4a07f', '#9fb0c3'],
}
const rgb = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16))
const faint = (hex, strength) => `rgba(${rgb(hex).join(', ')}, ${strength})`
const still = matchMedia('(prefers-reduced-motion: reduce)')

export class Sky {
  constructor(canvas) {
    this.canvas = canvas
    this.context = canvas.getContext('2d', { alpha: false, willReadFrequently: true })
    this.world = undefined
    this.storm = undefined
    this.cross = undefined
    this.flashes = []
    this.frames = 0
    this.fps = 0
    this.cost = 0
    this.offset = Infinity
    this.drawn = 0
    new ResizeObserver(() => this.resize()).observe(canvas)
    const loop = (at) => {
      requestAnimationFrame(loop)
      // Where motion is not wanted the picture changes four times a second, without trails.
      if (still.matches && at - this.drawn < 250) return
      this.drawn = at
      const before = performance.now()
      this.draw()
      this.cost += 0.05 * (performance.now() - before - this.cost)
      this.frames++
    }
    requestAnimationFrame(loop)
    setInterval(() => {
      this.fps = this.frames
      this.frames = 0
    }, 1000)
  }

  get theme() {
    const chosen = document.documentElement.dataset.theme
    return chosen ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
  }
  get colours() {
    return tones[this.theme]
  }

  get nodeTones() {
    return nodeTones[this.theme]
  }
  /** Who has which district. */
  own({ facts, owners }) {
    const names = facts.map(({ name }) => name)
    const said = owners.join()
    if (said === this.said) return
    this.said = said
    this.owners = owners.map((owner) => names.indexOf(owner))
    this.paintGround()
  }

  /** A process says who it is; whatever was known of drones comes anew. */
  begin(hello) {
    const { world, width, height, phases, hills } = hello
    const drones = world.columns * world.rows * world.dronesEach
    Object.assign(this, { world, width, height, phases, hills, drones })
    this.phase = new Uint8Array(drones)
    this.curve = new Float32Array(6 * drones)
    this.began = new Float64Array(drones)
    this.takes = new Float32Array(drones)
    this.xs = new Float32Array(drones)
    this.ys = new Float32Array(drones)
    this.offset = Infinity
    this.resize()
  }

  rows(view) {
    const now = view.getFloat64(0, true)
    // The fastest frame so far tells best how the clocks differ.
    this.offset = Math.min(this.offset, performance.now() - now)
    for (let at = 8; at < view.byteLength; at += rowBytes) {
      const drone = view.getUint16(at, true)
      const phase = view.getUint8(at + 2)
      for (let i = 0; i < 6; i++)
        this.curve[6 * drone + i] = (view.getUint16(at + 3 + 2 * i, true) / 65_535) * (i % 2 === 0 ? this.width : this.height)
      this.began[drone] = now + view.getInt32(at + 15, true)
      this.takes[drone] = view.getUint32(at + 19, true)
      if (phase >= 4 && this.phase[drone] < 4 && this.flashes.length < 1500)
        this.flashes.push({ x: this.curve[6 * drone + 4], y: this.curve[6 * drone + 5], since: performance.now() })
      this.phase[drone] = phase
    }
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas
    if (clientWidth === 0 || this.world === undefined) return
    // As sharp as the screen, within what can be written sixty times a second.
    const ratio = Math.min(devicePixelRatio || 1, Math.sqrt(3_000_000 / (clientWidth * clientHeight)))
    const wide = Math.round(clientWidth * ratio)
    const high = Math.round(clientHeight * ratio)
    this.canvas.width = wide
    this.canvas.height = high
    // The legend stands below, the hint above.
    this.ratio = ratio
    this.scale = (wide - 24 * ratio) / this.width
    this.scaleY = (high - 100 * ratio) / this.height
    this.left = 12 * ratio
    this.top = 44 * ratio
    this.paintGround()
  }

  paintGround() {
    const { context, canvas, scale, scaleY, left, top } = this
    const { back, hill, grid, depot } = ground[this.theme]
    context.fillStyle = back
    context.fillRect(0, 0, canvas.width, canvas.height)
    for (const { x, y, radius } of this.hills)
      for (let step = 5; step > 0; step--) {
        context.fillStyle = `rgba(${hill}, 0.035)`
        context.beginPath()
        context.ellipse(left + x * scale, top + y * scaleY, (radius * scale * step) / 4, (radius * scaleY * step) / 4, 0, 0, 7)
        context.fill()
      }
    if (this.owners !== undefined) this.paintOwners()
    context.strokeStyle = grid
    context.lineWidth = Math.max(1, this.ratio)
    context.beginPath()
    for (let column = 0; column <= this.world.columns; column++) {
      const x = left + (column / this.world.columns) * this.width * scale
      context.moveTo(x, top)
      context.lineTo(x, top + this.height * scaleY)
    }
    for (let row = 0; row <= this.world.rows; row++) {
      const y = top + (row / this.world.rows) * this.height * scaleY
      context.moveTo(left, y)
      context.lineTo(left + this.width * scale, y)
    }
    context.stroke()
    context.fillStyle = depot
    const side = Math.max(4, 7 * scale)
    for (let district = 0; district < this.world.columns * this.world.rows; district++) {
      const { x, y } = this.depot(district)
      context.fillRect(Math.round(left + x * scale - side / 2), Math.round(top + y * scaleY - side / 2), Math.round(side), Math.round(side))
    }
    this.image = context.getImageData(0, 0, canvas.width, canvas.height)
    this.back = new Uint32Array(this.image.data.buffer.slice(0))
    this.pixels = new Uint32Array(this.image.data.buffer)
    this.paints = this.phases.map((phase) => rgb(this.colours[phase]))
  }

  /** Below everything, so faint that dots are seen; red where nobody has a district. */
  paintOwners() {
    const { context, scale, scaleY, left, top, world, width, height } = this
    const wide = (width * scale) / world.columns
    const high = (height * scaleY) / world.rows
    this.owners.forEach((owner, district) => {
      const x = left + (district % world.columns) * wide
      const y = top + Math.floor(district / world.columns) * high
      context.fillStyle = owner === -1 ? faint(this.colours.restarting, 0.16) : faint(this.nodeTones[owner], 0.13)
      context.fillRect(x + 1, y + 1, wide - 2, high - 2)
    })
  }
  depot(district) {
    const { columns, rows } = this.world
    return {
      x: (((district % columns) + 0.5) * this.width) / columns,
      y: ((Math.floor(district / columns) + 0.5) * this.height) / rows,
    }
  }
  /** Where a click is, in the world. */
  place(event) {
    const box = this.canvas.getBoundingClientRect()
    const x = ((event.clientX - box.left) * this.ratio - this.left) / this.scale
    const y = ((event.clientY - box.top) * this.ratio - this.top) / this.scaleY
    return { x: Math.min(this.width, Math.max(0, x)), y: Math.min(this.height, Math.max(0, y)) }
  }
  /** Where a place is, in the page. */
  spot({ x, y }) {
    return { left: (this.left + x * this.scale) / this.ratio, top: (this.top + y * this.scaleY) / this.ratio }
  }
  /** The nearest drone within so many pixels of the page; undefined if there is none. */
  nearest({ x, y }, pixels) {
    const reach = (pixels * this.ratio) / this.scale
    let best
    let least = reach * reach
    for (let drone = 0; drone < this.drones; drone++) {
      const far = (this.xs[drone] - x) ** 2 + (this.ys[drone] - y) ** 2
      if (far < least) [best, least] = [drone, far]
    }
    return best
  }
  nearestDepot({ x, y }) {
    const { columns, rows } = this.world
    const column = Math.min(columns - 1, Math.floor((x / this.width) * columns))
    const district = Math.min(rows - 1, Math.floor((y / this.height) * rows)) * columns + column
    const at = this.depot(district)
    return Math.hypot(at.x - x, at.y - y) < 9 ? district : undefined
  }

  draw() {
    if (this.pixels === undefined || this.offset === Infinity) return
    const now = performance.now() - this.offset
    this.pixels.set(this.back)
    const { scale, scaleY, left, top, curve, began, takes, phase, xs, ys, paints } = this
    const big = scale > 0.62 ? 2 : 1
    for (let drone = 0; drone < this.drones; drone++) {
      const base = 6 * drone
      const kind = phase[drone]
      const [red, green, blue] = paints[kind]
      if (takes[drone] === 0) {
        const x = curve[base + 4]
        const y = curve[base + 5]
        xs[drone] = x
        ys[drone] = y
        const px = (left + x * scale) | 0
        const py = (top + y * scaleY) | 0
        if (kind >= 4) this.block(px, py, 2, red, green, blue)
        else this.dot(px, py, big, red, green, blue, 1)
        continue
      }
      const part = Math.min(1, Math.max(0, (now - began[drone]) / takes[drone]))
      this.at(base, part)
      xs[drone] = this.x
      ys[drone] = this.y
      const px = (left + this.x * scale) | 0
      const py = (top + this.y * scaleY) | 0
      if (kind === 2 && !still.matches)
        for (let i = 0; i < trail.length; i++) {
          const before = part - trail[i] / takes[drone]
          if (before < 0) break
          this.at(base, before)
          this.blend((left + this.x * scale) | 0, (top + this.y * scaleY) | 0, red, green, blue, 0.42 - 0.06 * i)
        }
      this.dot(px, py, big, red, green, blue, 1)
    }
    this.context.putImageData(this.image, 0, 0)
    this.drawOver()
  }

  at(base, part) {
    const { curve } = this
    const rest = 1 - part
    const a = rest * rest
    const b = 2 * rest * part
    const c = part * part
    this.x = a * curve[base] + b * curve[base + 2] + c * curve[base + 4]
    this.y = a * curve[base + 1] + b * curve[base + 3] + c * curve[base + 5]
  }
  /** A point with soft edges. */
  dot(x, y, big, red, green, blue, strength) {
    this.blend(x, y, red, green, blue, strength)
    const edge = big === 2 ? 0.85 : 0.5
    this.blend(x + 1, y, red, green, blue, edge)
    this.blend(x, y + 1, red, green, blue, edge)
    this.blend(x + 1, y + 1, red, green, blue, edge * edge)
    if (big === 1) return
    this.blend(x - 1, y, red, green, blue, 0.4)
    this.blend(x, y - 1, red, green, blue, 0.4)
  }
  block(x, y, reach, red, green, blue) {
    for (let dy = -1; dy < reach; dy++) for (let dx = -1; dx < reach; dx++) this.blend(x + dx, y + dy, red, green, blue, 1)
  }
  blend(x, y, red, green, blue, strength) {
    const { width, height } = this.canvas
    if (x < 0 || y < 0 || x >= width || y >= height) return
    const at = y * width + x
    const before = this.pixels[at]
    const other = 1 - strength
    this.pixels[at] =
      0xff00_0000 |
      ((other * ((before >>> 16) & 255) + strength * blue) << 16) |
      ((other * ((before >>> 8) & 255) + strength * green) << 8) |
      (other * (before & 255) + strength * red)
  }

  drawOver() {
    const { context, left, top, scale, scaleY, ratio } = this
    const now = performance.now()
    context.lineWidth = 1.5 * ratio
    this.flashes = this.flashes.filter(({ since }) => now - since < 600)
    if (!still.matches)
      for (const { x, y, since } of this.flashes) {
        const age = (now - since) / 600
        context.strokeStyle = faint(this.colours.restarting, 0.7 * (1 - age))
        context.beginPath()
        context.arc(left + x * scale, top + y * scaleY, (2 + 9 * age) * ratio, 0, 7)
        context.stroke()
      }
    if (this.storm !== undefined) this.drawStorm(this.storm, now)
    if (this.cross !== undefined) {
      const x = left + this.cross.x * scale
      const y = top + this.cross.y * scaleY
      context.strokeStyle = this.colours.carrying
      context.beginPath()
      context.arc(x, y, 11 * ratio, 0, 7)
      for (const [dx, dy] of [
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, -1],
      ]) {
        context.moveTo(x + 7 * dx * ratio, y + 7 * dy * ratio)
        context.lineTo(x + 16 * dx * ratio, y + 16 * dy * ratio)
      }
      context.stroke()
    }
  }
  drawStorm({ x, y, radius }, now) {
    const { context, left, top, scale, scaleY, ratio } = this
    const turn = still.matches ? 0 : now / 260
    context.strokeStyle = faint(this.colours.restarting, 0.75)
    context.fillStyle = faint(this.colours.restarting, 0.07)
    context.beginPath()
    context.ellipse(left + x * scale, top + y * scaleY, radius * scale, radius * scaleY, 0, 0, 7)
    context.fill()
    for (let arm = 0; arm < 5; arm++) {
      context.beginPath()
      for (let step = 0; step <= 14; step++) {
        const angle = turn + arm * 1.2566 + step * 0.13
        const far = (radius * (step + 2)) / 16
        context.lineTo(left + (x + far * Math.cos(angle)) * scale, top + (y + far * Math.sin(angle)) * scaleY)
      }
      context.lineWidth = 1.5 * ratio
      context.stroke()
    }
  }
}

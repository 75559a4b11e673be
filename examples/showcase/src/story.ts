// The order of events: what is asked of the shop, what is broken meanwhile, and when to look. It knows neither the
// terminal nor the clock, so that the test tells the same story on virtual time.

import { type ActorRef, type ActorSystem, formatTree, type LedgerReport } from '@troupe/core'
import { makeBank } from './bank.ts'
import { type Sale, shop, type Shop, type Total } from './shop.ts'

/** Where a story is told. */
export interface Stage {
  chapter(title: string): void
  line(text: string): void
  tree(text: string): void
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** What a test wants to know afterwards. */
export interface Ending {
  readonly sales: readonly Sale[]
  readonly refused: readonly { readonly id: number; readonly why: string }[]
  readonly total: Total
  readonly ledger: LedgerReport
}

/** Tells the story on a system that is otherwise empty; resolves when all is well again. */
export async function tellStory(system: ActorSystem, stage: Stage): Promise<Ending> {
  const bank = makeBank()
  const sales: Sale[] = []
  const refused: { id: number; why: string }[] = []
  const ref: ActorRef<Shop> = system.spawn(shop(bank), { name: 'shop' })
  const look = async (): Promise<void> => stage.tree(formatTree(await system.inspect(ref)))
  let last = 0
  const order = async (item: string): Promise<void> => {
    const id = ++last
    try {
      const sale = await ref.ask({ type: 'order', id, item })
      sales.push(sale)
      const again = sale.attempts === 1 ? '' : `, at attempt ${sale.attempts}`
      stage.line(`order ${String(id).padStart(2)}  ${item.padEnd(11)}  paid ${(sale.cents / 100).toFixed(2)}  ${sale.receipt}${again}`)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      refused.push({ id, why })
      stage.line(`order ${String(id).padStart(2)}  ${item.padEnd(11)}  refused: ${why}`)
    }
  }

  stage.chapter('The shop opens')
  for (const line of ['book=1850', 'lamp=4200', 'teapot=2675']) ref.tell({ type: 'row', line })
  await stage.wait(50)
  await look()

  stage.chapter('The bank drops a connection: the gateway restarts, the questions wait for it')
  const morning = Promise.all([order('book'), order('lamp'), order('teapot'), order('book')])
  await stage.wait(60)
  await look()
  await stage.wait(400)
  await morning

  stage.chapter('A malformed price row: the catalogue restarts and hands its prices over')
  ref.tell({ type: 'row', line: 'lamp=??' })
  await stage.wait(200)
  const noon = order('lamp')
  await stage.wait(400)
  await noon

  stage.chapter('A cursed order stops its worker for good: what it still had is a dead letter, and a new worker is hired')
  const afternoon = Promise.all([order('cursed idol'), order('book'), order('teapot'), order('lamp')])
  await stage.wait(700)
  await afternoon
  await look()

  stage.chapter('The bank is away: the gateway gives up, its parent restarts with a new one, orders keep waiting')
  await stage.wait(900)
  bank.online = false
  const evening = Promise.all([order('book'), order('lamp')])
  await stage.wait(150)
  await look()
  await stage.wait(250)
  await look()
  bank.online = true
  await stage.wait(900)
  await evening

  stage.chapter('All is well again')
  await look()
  const asked = ref.ask({ type: 'total' })
  await stage.wait(20)
  const total = await asked
  stage.line(`books: ${total.sales} sales, ${(total.cents / 100).toFixed(2)} in all`)
  for (const { message, recipient, reason } of system.deadLetters.list())
    stage.line(`dead letter: ${(message as { type: string }).type} for ${recipient?.path ?? 'nobody'}, ${reason}`)
  const { restarts, limitsHit } = system.counts().supervision
  stage.line(`supervision: ${restarts} restarts, ${limitsHit} time${limitsHit === 1 ? '' : 's'} at the limit`)
  const ledger = await system.ledger()
  stage.line(
    `ledger: ${ledger.sent} sent = ${Object.entries(ledger)
      .filter(([name, n]) => name !== 'sent' && n > 0)
      .map(([name, n]) => `${n} ${name}`)
      .join(' + ')}`,
  )
  return { sales, refused, total, ledger }
}

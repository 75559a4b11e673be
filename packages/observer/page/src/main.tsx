// The page: header, the view that is open, footer. Opened from a file that was saved, it shows what is in it and asks nobody.

import { render } from 'preact'
import { Actors } from './actors.tsx'
import { connect } from './connection.ts'
import { Failures } from './failures.tsx'
import { Flow } from './flow.tsx'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import { listenToKeys } from './keys.ts'
import { Overview } from './overview.tsx'
import { Own } from './own.tsx'
import { openReport } from './report.ts'
import { Runtime } from './runtime.tsx'
import { follow, link, linkTo, losses, moments, shown, view } from './store.ts'
import { Traces } from './traces.tsx'
import { Waits } from './waits.tsx'

const pages = { overview: Overview, actors: Actors, failures: Failures, waits: Waits, flow: Flow, runtime: Runtime, traces: Traces, own: Own }

function Notices() {
  const { rounds, events } = losses.value
  const silent = shown.value?.round.silent ?? []
  const lost = [rounds > 0 ? `${rounds} rounds` : '', events > 0 ? `${events} events` : ''].filter((text) => text !== '').join(' and ')
  return (
    <>
      {link.value === 'denied' && (
        <p class="notice" role="alert">
          The key is missing or wrong. Open the address that was printed when the system began to be observed: the part behind <code>#</code> is the
          key.
        </p>
      )}
      {link.value === 'lost' && (
        <p class="notice" role="alert">
          The connection is lost: the process has ended, or is too busy to answer. What you see is as it was. Trying again…
        </p>
      )}
      {link.value === 'ended' && <p class="notice">The system has closed. What you see is how it ended; you can still scrub and save.</p>}
      {silent.length > 0 && (
        <p class="notice" role="alert">
          {silent.length === 1 ? `Thread ${silent[0]} does` : `Threads ${silent.join(', ')} do`} not answer: one of its actors holds it, or it is
          gone. What is shown of its actors is as it was. <a href={linkTo('runtime')}>Runtime →</a>
        </p>
      )}
      {lost !== '' && (
        <p class="notice mild">
          {lost} did not get here, because there were too many at once. All figures are from surveys and are right; lists of events have gaps.
        </p>
      )}
    </>
  )
}

function Page() {
  const View = pages[view.value]
  const waiting = moments.value.length === 0 && (link.value === 'connecting' || link.value === 'live')
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <Notices />
        {waiting ? <p class="empty">Looking…</p> : <View />}
      </main>
      <Footer />
    </>
  )
}

const saved = openReport()
if (!saved) connect()
follow(location.hash)
addEventListener('hashchange', () => follow(location.hash))
listenToKeys()
render(<Page />, document.getElementById('page')!)

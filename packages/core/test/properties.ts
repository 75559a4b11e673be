// fast-check as tests of properties use it. A run that never ends would only be heard of as a test that took too long;
// with a limit of its own it is a counterexample as any other, told with its seed and its path.

import fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), timeout: 30_000 })

export { fc }

export default async function failing() {
  throw new Error('no database')
}

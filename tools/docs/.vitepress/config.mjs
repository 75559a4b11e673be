// How VitePress shows what stage.mjs has written. Anchors are made as GitHub makes them, so that one link serves both.

import { defineConfig } from 'vitepress'
import { contents, repository, sitePages } from '../site.mjs'

const pages = sitePages()
const url = (path) => `/${(pages.get(path) ?? 'index.md').replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')}`
const sidebar = contents().map(({ text, items }, index) => ({
  text,
  collapsed: index >= 3,
  items: items.map((item) => ({ text: item.text, link: url(item.path) })),
}))
const slugify = (title) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

export default defineConfig({
  title: 'Troupe',
  description: 'An actor system for TypeScript: typed actors, supervision, persistence, clusters, and tests on virtual time.',
  lang: 'en',
  srcDir: '.site',
  outDir: 'dist',
  cacheDir: '.cache',
  lastUpdated: false,
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    headers: { slugify },
    theme: { light: 'github-light', dark: 'github-dark' },
    languageAlias: { mermaid: 'txt' },
  },
  head: [['link', { rel: 'icon', href: 'data:image/svg+xml,' + encodeURIComponent(icon()) }]],
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/guide/getting-started.html', activeMatch: '^/guide/' },
      { text: 'Recipes', link: '/recipes/graceful-service.html', activeMatch: '^/recipes/' },
      { text: 'Coming from', link: '/coming-from/promises.html', activeMatch: '^/coming-from/' },
      { text: 'API', link: '/api/core.html', activeMatch: '^/api/' },
      { text: 'Promises', link: '/semantics.html' },
    ],
    sidebar,
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        miniSearch: {
          searchOptions: {
            fuzzy: 0.2,
            prefix: true,
            boost: { title: 4, text: 2, titles: 1 },
            // Who looks for something wants the page that tells how, then its reference, and only then why it is so. Sent to the page as text: it uses nothing from here.
            boostDocument: (id) => (/^\/(guide|recipes)\//.test(id) ? 3 : /^\/(decisions|changelog)/.test(id) ? 0.4 : 1),
          },
        },
      },
    },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: ({ frontmatter }) => frontmatter.edit, text: 'Edit this page' },
    outline: { label: 'On this page' },
    footer: { message: 'Apache-2.0' },
  },
})

/** Three actors, one of which is told something. */
function icon() {
  return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="7" r="5" fill="#2f6fed"/><circle cx="7" cy="24" r="5" fill="#1a9c6b"/><circle cx="25" cy="24" r="5" fill="#e0852b"/><path d="M14 11 9 19M18 11l5 8" stroke="#888" stroke-width="2"/></svg>'
}

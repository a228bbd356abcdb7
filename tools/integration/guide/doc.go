// Package guide has no code: its tests do what the pages of operator/guide say, word by word and on a real control
// plane, and look whether what they link to is there. The Go and YAML that they show is held by check snippets.
package guide

// Package guide has no code: its tests run the commands on the pages of operator/guide, exactly as written, on a real
// control plane, and check the links of these pages. The Go and YAML on the pages is checked by `check snippets`.
package guide

// Package condition reads status conditions from JSON-like documents
// (map[string]any, as encoding/json and unstructured objects hold them)
// without converting or copying them.
//
// It is tolerant: what isn't where it belongs counts as absent. It is shared
// by the packages status and readiness and never writes.
package condition

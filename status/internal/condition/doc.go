// Package condition reads status conditions from JSON-like documents
// (map[string]any, as encoding/json and unstructured objects hold them)
// without converting or copying them.
//
// It is tolerant: a value of the wrong type counts as absent. The packages status and readiness share it. It never
// writes.
package condition

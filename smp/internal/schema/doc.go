// Package schema describes the types of documents for a strategic merge: which fields a type has, and how each field
// merges. The packages below it read types: builtin from the table of Kubernetes' own kinds, openapi from OpenAPI v3
// documents and CRDs, gotype from Go structs.
//
// Use it inside smp only. It reads no documents and merges nothing.
package schema

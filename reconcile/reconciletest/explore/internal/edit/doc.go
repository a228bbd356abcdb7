// Package edit makes changes of a resource that the schema of its definition allows: other values of its fields, values
// at the edges of what is valid, fields, items and entries that are added or removed, and pairs of fields.
//
// What is generated follows only from the resource and the schema, in the same order each time. A cluster may refuse an
// edit: a webhook knows more than the schema. Package explore, in doc.go, says what isn't edited.
package edit

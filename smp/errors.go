package smp

import (
	"errors"
	"strings"
)

// ErrorKind is the kind of an error. Callers can branch on it.
type ErrorKind string

// The kinds of errors.
const (
	// Invalid is a patch that isn't well-formed, whatever the document is.
	Invalid ErrorKind = "invalid"
	// Pointer is a path that isn't a JSON pointer (RFC 6901).
	Pointer ErrorKind = "pointer"
	// Conflict is a patch that doesn't fit the document: a path doesn't exist, a value has another type, or an element
	// lacks its key.
	Conflict ErrorKind = "conflict"
	// Test is a test operation whose value differs from the document's.
	Test ErrorKind = "test"
	// Identity is a patch that would change the identity of an object.
	Identity ErrorKind = "identity"
	// UnknownType is a kind whose merge rules aren't known.
	UnknownType ErrorKind = "unknown type"
	// UnknownField is a field that the kind doesn't have.
	UnknownField ErrorKind = "unknown field"
	// Document is a document or patch that isn't JSON: a syntax error, NaN, an unsupported Go type.
	Document ErrorKind = "document"
	// Limit is a document or patch that is nested too deeply or is too large.
	Limit ErrorKind = "limit"
)

// PatchError is the error of every function of this package. Read it with errors.As.
type PatchError struct {
	// Patch is the name given by [Named], or empty without Named.
	Patch string
	// Resource is the document's kind, namespace and name, as far as it has them: "Deployment shop/web".
	Resource string
	// Path is the place in the document, as a JSON pointer (RFC 6901). An empty Path is the document itself. An element
	// of a list has its index in the document, or in the patch if only the patch has it.
	Path string
	// Kind is the kind of the error.
	Kind ErrorKind
	// Err describes what is wrong, and what to do.
	Err error
}

// Error returns the patch, the resource, the path and the text of Err.
func (e *PatchError) Error() string {
	var b strings.Builder
	if e.Patch != "" {
		b.WriteString(`patch "` + e.Patch + `": `)
	}
	for _, part := range []string{e.Resource, e.Path} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	if e.Err == nil {
		b.WriteString(string(e.Kind))
	} else {
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns Err.
func (e *PatchError) Unwrap() error { return e.Err }

// KindOf returns the kind of the [PatchError] in the chain of err, and an empty kind if there is none.
func KindOf(err error) ErrorKind {
	var patchError *PatchError
	if errors.As(err, &patchError) {
		return patchError.Kind
	}
	return ""
}

// call runs an operation with its options. Its errors name the patch and the document.
func call[T any](doc any, opts []Option, do func(o options) (T, error)) (T, error) {
	var none T
	o, err := newOptions(opts)
	if err != nil {
		return none, err
	}
	out, err := do(o)
	if err != nil {
		return none, located(err, doc, o)
	}
	return out, nil
}

// located adds the names of the patch and the document to an error that lacks them.
func located(err error, doc any, o options) error {
	var patchError *PatchError
	if !errors.As(err, &patchError) {
		return err
	}
	if patchError.Patch == "" {
		patchError.Patch = o.name
	}
	if patchError.Resource == "" {
		patchError.Resource = resourceOf(doc)
	}
	return err
}

// resourceOf returns kind, namespace and name of a document, as far as it has them.
func resourceOf(doc any) string {
	object, _ := doc.(map[string]any)
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	if namespace != "" && name != "" {
		name = namespace + "/" + name
	}
	return strings.TrimSpace(kind + " " + name)
}

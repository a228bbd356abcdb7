package event

import (
	"cmp"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Type distinguishes ordinary events from warnings.
type Type string

// The types that Kubernetes knows.
const (
	Normal  Type = "Normal"
	Warning Type = "Warning"
)

// Event is something that happened to an object.
type Event struct {
	// Regarding is the object that the event is about.
	Regarding Object
	// Related is a second object; the zero value is none.
	Related Object
	// Type is the type of the event. Empty means Normal.
	Type Type
	// Reason is one word for programs, such as "Created"; Action is the action that was done or tried, by default the
	// Reason; Note is text for people. Longer texts are shortened in the middle to 128, 128 and 1024 bytes.
	Reason, Action, Note string
}

// Object is an object that an event is about.
type Object struct {
	deploy.Ref
	// UID and ResourceVersion may be empty.
	UID             types.UID
	ResourceVersion string
}

// Of returns the Object for obj.
func Of(obj *unstructured.Unstructured) Object {
	return Object{Ref: deploy.RefOf(obj), UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion()}
}

// Sink receives events. Record neither blocks nor fails, and is safe for concurrent use.
type Sink interface {
	Record(e Event)
}

// Func is a Sink that is a function.
type Func func(e Event)

// Record implements Sink.
func (f Func) Record(e Event) { f(e) }

// Warnings returns a sink that passes only warnings on to sink.
func Warnings(sink Sink) Sink {
	return Func(func(e Event) {
		if e.Type == Warning {
			sink.Record(e)
		}
	})
}

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// The bounds of the API server, in bytes.
const (
	mostWord, mostNote = 128, 1024
	dots               = "..."
)

// cut returns text, shortened if it has more bytes than most. It keeps the beginning and the end, since errors state
// their cause at the end.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := (most-len(dots)+1)/2, len(text)-(most-len(dots))/2
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + dots + text[tail:]
}

// aboutNamespace returns e as an event about the namespace of its object. While a namespace is being deleted, no event
// can be created in it, but events about the namespace itself are in another namespace.
func (e Event) aboutNamespace() Event {
	e.Note = cut(e.Regarding.Ref.String()+": "+e.Note, mostNote)
	e.Related = e.Regarding
	e.Regarding = Object{Ref: deploy.Ref{Kind: namespaceKind, Name: e.Regarding.Namespace}}
	return e
}

// complete returns e with its defaults, cut to the bounds.
func (e Event) complete() Event {
	e.Type, e.Action = cmp.Or(e.Type, Normal), cmp.Or(e.Action, e.Reason)
	e.Reason, e.Action, e.Note = cut(e.Reason, mostWord), cut(e.Action, mostWord), cut(e.Note, mostNote)
	return e
}

package event

import (
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Type tells what is as it should be from what isn't.
type Type string

// The types that Kubernetes knows.
const (
	Normal  Type = "Normal"
	Warning Type = "Warning"
)

// Event is something that happened to an object.
type Event struct {
	// Regarding is the object that it happened to.
	Regarding Object
	// Related is another object that it has to do with; the zero value is none.
	Related Object
	// Type is Normal if empty.
	Type Type
	// Reason is why, for programs: a word such as "Created". Action is what was done or tried, the Reason if empty. Note says
	// it for people. More than 128, 128 and 1024 bytes are cut in the middle.
	Reason, Action, Note string
}

// Object is one that an event is about.
type Object struct {
	deploy.Ref
	// UID and ResourceVersion say which one of that name, and in which state; they may be empty.
	UID             types.UID
	ResourceVersion string
}

// Of is the Object of an object.
func Of(obj *unstructured.Unstructured) Object {
	return Object{Ref: deploy.RefOf(obj), UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion()}
}

// Sink takes events. Record neither waits nor fails, and may be called at any time from anywhere.
type Sink interface {
	Record(e Event)
}

// Func is a Sink that is a function.
type Func func(e Event)

// Record implements Sink.
func (f Func) Record(e Event) { f(e) }

// Warnings passes nothing but warnings on.
func Warnings(sink Sink) Sink {
	return Func(func(e Event) {
		if e.Type == Warning {
			sink.Record(e)
		}
	})
}

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// How much the API server takes of a text, in bytes.
const (
	mostWord, mostNote = 128, 1024
	dots               = "..."
)

// cut is text in no more than most bytes: its beginning, and its end, where errors say what is the matter.
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

// aboutNamespace returns e as an event about the namespace of its object. While a namespace is being deleted nothing
// can be created in it, but events about the namespace itself are in another one.
func (e Event) aboutNamespace() Event {
	e.Note = cut(e.Regarding.Ref.String()+": "+e.Note, mostNote)
	e.Related = e.Regarding
	e.Regarding = Object{Ref: deploy.Ref{Kind: namespaceKind, Name: e.Regarding.Namespace}}
	return e
}

// settled is e as it is written.
func (e Event) settled() Event {
	if e.Type == "" {
		e.Type = Normal
	}
	if e.Action == "" {
		e.Action = e.Reason
	}
	e.Reason, e.Action, e.Note = cut(e.Reason, mostWord), cut(e.Action, mostWord), cut(e.Note, mostNote)
	return e
}

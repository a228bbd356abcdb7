package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// note is one line for the reader.
type note struct {
	colour  colour
	subject string
	text    string
}

// bookSubject stands before what happens to the guestbook itself.
const bookSubject = "guestbook"

// observe records an event and returns the notes to print about it.
func (b *board) observe(event deploy.Event) ([]note, error) {
	ref := deploy.RefOf(event.New)
	if ref == b.ref {
		return b.observeBook(event)
	}
	if !b.owns(event.New) {
		return nil, nil
	}
	before := b.children[ref]
	if event.Type == deploy.Deleted {
		delete(b.children, ref)
	} else {
		b.children[ref] = event.New
	}
	if ref.Kind == podKind {
		return nil, nil // too many to print: the line of their owner has the number
	}
	var notes []note
	subject := event.New.GetLabels()[componentLabel]
	for _, text := range childTexts(event, before) {
		notes = append(notes, note{plain, subject, ref.Kind.Kind + " " + ref.Name + text})
	}
	return notes, nil
}

// childTexts returns texts about the changes of an object, to be printed after its name.
func childTexts(event deploy.Event, before *unstructured.Unstructured) []string {
	switch {
	case event.Type == deploy.Deleted:
		return []string{" deleted"}
	case before == nil:
		return []string{" created"}
	case before.GetUID() != event.New.GetUID():
		return []string{" deleted and created again"}
	}
	var texts []string
	if fields := changedFields(before.Object, event.New.Object); len(fields) > 0 {
		texts = append(texts, " changed: "+strings.Join(fields, ", "))
	}
	was, _ := pods(before)
	if is, ok := pods(event.New); ok && is != was {
		texts = append(texts, ": "+is)
	}
	return texts
}

func (b *board) observeBook(event deploy.Event) ([]note, error) {
	name := b.ref.Name
	before := b.book
	if event.Type == deploy.Deleted {
		b.book = nil
		clear(b.states)
		return []note{{plain, bookSubject, name + " gone"}}, nil
	}
	book, err := decode(event.New)
	if err != nil {
		return nil, err
	}
	b.book = book
	var notes []note
	for _, text := range bookTexts(before, book) {
		notes = append(notes, note{plain, bookSubject, name + text})
	}
	return append(notes, b.stateNotes(before)...), nil
}

// bookTexts returns texts about the changes of the guestbook, except for its status.
func bookTexts(before, book *v1.Guestbook) []string {
	if before == nil {
		return []string{fmt.Sprintf(" created: generation %d, size %d, message %q", book.Generation, book.Spec.Size, book.Spec.Message)}
	}
	var texts []string
	for _, finalizer := range book.Finalizers {
		if !slices.Contains(before.Finalizers, finalizer) {
			texts = append(texts, " has the finalizer "+finalizer)
		}
	}
	for _, finalizer := range before.Finalizers {
		if !slices.Contains(book.Finalizers, finalizer) {
			texts = append(texts, " lost the finalizer "+finalizer)
		}
	}
	if book.Spec.Message != before.Spec.Message {
		texts = append(texts, fmt.Sprintf(" changed: generation %d, message %q", book.Generation, book.Spec.Message))
	}
	if book.DeletionTimestamp != nil && before.DeletionTimestamp == nil {
		texts = append(texts, " is to go; its finalizer holds it until the operator is done")
	}
	return texts
}

// stateNotes returns notes about components whose state has changed since the last note, and then about the conditions
// if they have changed.
func (b *board) stateNotes(before *v1.Guestbook) []note {
	var notes []note
	for _, component := range b.components() {
		state := b.state(component)
		if state.text != "" && state != b.states[component] {
			b.states[component] = state
			notes = append(notes, note{state.colour, component, state.text})
		}
	}
	says := verdict(b.book)
	if says.text != "" && b.book.DeletionTimestamp == nil && (before == nil || says != verdict(before)) {
		notes = append(notes, note{says.colour, bookSubject, says.text})
	}
	return notes
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operkit/operkit/deploy"
)

// errInterrupted is the error after a signal to stop.
var errInterrupted = errors.New("interrupted: what is done stays done; run it again to go on")

// applyError is an error with objects, as opposed to arguments and files.
type applyError struct{ error }

func (e *applyError) Unwrap() error { return e.error }

// problem is an error with one object, or with all of them if it has no subject.
type problem struct {
	place, subject string
	err            error
}

// outcome returns an error with all problems: the errors in the rows, and err if it isn't one of these.
func (s settings) outcome(ctx context.Context, m *deploy.Manager, t *table, err error) error {
	if err == nil {
		return nil
	}
	var problems []problem
	for _, r := range t.rows {
		if r.err != nil {
			problems = append(problems, problem{r.place, r.name(), r.err})
		}
	}
	left := t.count(notBegun)
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.Canceled):
		problems = append(problems, problem{err: errInterrupted})
	case ended != nil && left > 0:
		problems = append(problems, problem{err: fmt.Errorf("--timeout %s: is over, and %d objects weren't begun: %w", s.timeout, left, ended)})
	case len(problems) == 0:
		problems = append(problems, problem{place: t.placesOf(err), err: err})
	}
	return &applyError{s.told(ctx, m, problems)}
}

// placesOf returns the places of the objects that can't be sent.
func (t *table) placesOf(err error) string {
	var invalid *deploy.InvalidManifestError
	if errors.As(err, &invalid) {
		return t.places(invalid.Ref)
	}
	return ""
}

// told returns an error with each problem, its object and its place. A problem of several objects is listed once.
func (s settings) told(ctx context.Context, m *deploy.Manager, problems []problem) error {
	var errs []error
	lines := map[string]*line{}
	for _, p := range problems {
		text := s.why(ctx, m, p.err)
		cause := p.cause(text)
		if known := lines[cause]; known != nil {
			known.others++
			continue
		}
		lines[cause] = &line{problem: p, text: text}
		errs = append(errs, lines[cause])
	}
	return errors.Join(errs...)
}

// cause returns a key that is equal for problems of which only the first one is listed.
func (p problem) cause(text string) string {
	var invalid *deploy.InvalidManifestError
	switch {
	case errors.As(p.err, &invalid):
		return p.place + text
	case apierrors.IsServiceUnavailable(p.err), apierrors.IsTooManyRequests(p.err):
		return string(apierrors.ReasonForError(p.err)) // the text may have the name of the object
	}
	return text
}

// line is a problem with its text, and the number of other objects with the same problem.
type line struct {
	problem
	text   string
	others int
}

func (l *line) Unwrap() error { return l.err }

func (l *line) Error() string {
	text := l.text
	var invalid *deploy.InvalidManifestError // its text contains what is known of the object's name
	if !errors.As(l.err, &invalid) && !strings.Contains(text, l.subject) {
		text = l.subject + ": " + text
	}
	if l.place != "" {
		text = l.place + ": " + text
	}
	if l.others > 0 {
		text += fmt.Sprintf(" (and %d more)", l.others)
	}
	return text
}

// why returns the text for an error. It leaves out the object's name if other objects may have the same problem, and
// says what to do with this command.
func (s settings) why(ctx context.Context, m *deploy.Manager, err error) string {
	var unavailable *deploy.UnavailableError
	var owned *deploy.OwnedError
	switch {
	case errors.As(err, &unavailable):
		return "the cluster doesn't do it now: " + (&rejection{unavailable}).Error()
	case !errors.As(err, &owned):
		return err.Error()
	case owned.Ref.Name == s.set && owned.Ref.Namespace == s.namespace && owned.Ref.Kind.Kind == "Secret" && owned.Owner == "":
		return fmt.Sprintf("%s: is there already and remembers no set: give --applyset another name, or delete it if nobody needs it", owned.Ref)
	}
	live, failed := m.View().Get(ctx, owned.Ref)
	if failed != nil || live == nil || live.GetLabels()[deploy.PartOfLabel] == "" {
		return err.Error()
	}
	return fmt.Sprintf("it is in another set, that of the Secret which 'kubectl get secrets -A -l %s=%s' shows: "+
		"to have it in this one take its label %s off, and it out of the other's files",
		deploy.SetIDLabel, live.GetLabels()[deploy.PartOfLabel], deploy.PartOfLabel)
}

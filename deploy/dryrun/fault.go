package dryrun

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault makes requests fail or delays them, as a server or the network might. The zero value matches all requests
// except VerbDiscover requests, and does nothing to them.
type Fault struct {
	// Verb, Kind, Namespace, Name and Subresource choose the requests. An empty field matches any request, except that
	// an empty Verb doesn't match VerbDiscover. VerbPatch matches applies, too. Without a Kind.Version every version
	// matches.
	Verb        Verb
	Kind        schema.GroupVersionKind
	Namespace   string
	Name        string
	Subresource string
	// After is how many matching requests pass before the fault takes effect. Count is how many requests the fault then
	// affects. A Count of 0 means all requests until Heal.
	After, Count int

	// Latency delays the request. The request fails if its context ends meanwhile.
	Latency time.Duration
	// Code is the HTTP status of the response, which becomes the error that a real cluster would return. Zero means no
	// failure, unless Lost is set.
	Code int
	// RetryAfter is sent with the response.
	RetryAfter time.Duration
	// Fields are the contested fields of a 409. With Fields, the error is a *deploy.ConflictError. Without Fields, it
	// is a *deploy.StaleError, or for VerbCreate a *deploy.AlreadyExistsError.
	Fields []deploy.FieldConflict
	// Lost carries out the request and replaces only its response: by a response with Code, or by a broken connection
	// if Code is zero.
	Lost bool
}

// fault is a Fault with the remaining values of After and Count.
type fault struct {
	Fault
	passing, left int
}

// Fail adds faults. If several match a request, the first one applies. If a fault is invalid, Fail returns an error and
// adds none of the faults.
func (c *Cluster) Fail(faults ...Fault) error {
	for i, f := range faults {
		if err := f.check(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	c.traffic.mu.Lock()
	defer c.traffic.mu.Unlock()
	for _, f := range faults {
		f.Fields = slices.Clone(f.Fields)
		c.traffic.faults = append(c.traffic.faults, &fault{f, f.After, f.Count})
	}
	return nil
}

// Heal removes all faults.
func (c *Cluster) Heal() {
	c.traffic.mu.Lock()
	defer c.traffic.mu.Unlock()
	c.traffic.faults = nil
}

var verbs = []Verb{"", VerbGet, VerbList, VerbWatch, VerbCreate, VerbUpdate, VerbPatch, VerbApply, VerbDelete, VerbDiscover}

func (f Fault) check() error {
	switch {
	case !slices.Contains(verbs, f.Verb):
		return fmt.Errorf("verb %q: unknown verb", f.Verb)
	case f.Code != 0 && (f.Code < 400 || f.Code > 599):
		return fmt.Errorf("code %d: not a failure: use 400 to 599", f.Code)
	case f.After < 0 || f.Count < 0:
		return errors.New("count: must not be negative")
	case f.Latency < 0 || f.RetryAfter < 0:
		return errors.New("duration: must not be negative")
	case len(f.Fields) > 0 && f.Code != http.StatusConflict:
		return fmt.Errorf("code %d: only a 409 has contested fields", f.Code)
	}
	return nil
}

// meet returns the fault that applies to a call, nil if there is none. It counts the call for the faults that match it.
func (t *traffic) meet(call Call) *fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, f := range t.faults {
		if !f.chooses(call) {
			continue
		}
		if f.passing > 0 {
			f.passing--
			continue
		}
		if f.left == 1 {
			t.faults = slices.Delete(t.faults, i, i+1)
		} else if f.left > 1 {
			f.left--
		}
		return f
	}
	return nil
}

func (f Fault) chooses(call Call) bool {
	return f.choosesVerb(call.Verb) && f.choosesKind(call.Ref.Kind) &&
		(f.Namespace == "" || f.Namespace == call.Ref.Namespace) &&
		(f.Name == "" || f.Name == call.Ref.Name) &&
		(f.Subresource == "" || f.Subresource == call.Subresource)
}

func (f Fault) choosesVerb(verb Verb) bool {
	if f.Verb == "" {
		return verb != VerbDiscover
	}
	return f.Verb == verb || f.Verb == VerbPatch && verb == VerbApply
}

func (f Fault) choosesKind(kind schema.GroupVersionKind) bool {
	if f.Kind.Empty() {
		return true
	}
	return f.Kind.GroupKind() == kind.GroupKind() && (f.Kind.Version == "" || f.Kind.Version == kind.Version)
}

func (f *fault) delay(ctx context.Context, call Call) error {
	if f == nil || f.Latency == 0 {
		return nil
	}
	timer := time.NewTimer(f.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return interrupted(ctx, call.Verb, call.Ref)
	}
}

// errConnection is the error of a client whose connection was broken.
var errConnection = errors.New("connection ended before the response")

// Answer returns the error that the client of a real cluster would return for a call that meets the fault. It is for
// tests that make requests fail by themselves.
func (f Fault) Answer(call Call) error {
	if f.Code == 0 {
		return &deploy.UnavailableError{Ref: call.Ref, Err: errConnection}
	}
	resource := resourceOf(call)
	verb := string(call.Verb)
	if call.Verb == VerbApply {
		verb = string(VerbPatch)
	}
	status := apierrors.NewGenericServerResponse(f.Code, verb, resource, call.Ref.Name, "injected fault", 0, true)
	switch f.Code {
	case http.StatusNotFound:
		return &deploy.NotFoundError{Ref: call.Ref, Err: status}
	case http.StatusForbidden:
		return &deploy.ForbiddenError{Verb: verb, Resource: resource, Namespace: call.Ref.Namespace, Name: call.Ref.Name, Err: status}
	case http.StatusConflict:
		return f.conflict(call, status)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return &deploy.InvalidError{Ref: call.Ref, Err: status}
	case http.StatusGone:
		return fmt.Errorf("%s: %w", call.Ref, apierrors.NewResourceExpired("injected fault"))
	}
	if f.Code >= http.StatusInternalServerError || f.Code == http.StatusUnauthorized || f.Code == http.StatusTooManyRequests {
		return &deploy.UnavailableError{Ref: call.Ref, RetryAfter: f.RetryAfter, Err: status}
	}
	return fmt.Errorf("%s: %w", call.Ref, status)
}

func (f Fault) conflict(call Call, status *apierrors.StatusError) error {
	switch {
	case len(f.Fields) > 0:
		causes := make([]metav1.StatusCause, len(f.Fields))
		for i, field := range f.Fields {
			causes[i] = metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: field.Field, Message: field.Message}
		}
		return &deploy.ConflictError{Ref: call.Ref, Fields: slices.Clone(f.Fields), Err: apierrors.NewApplyConflict(causes, "injected fault")}
	case call.Verb == VerbCreate:
		return &deploy.AlreadyExistsError{Ref: call.Ref, Err: status}
	}
	return &deploy.StaleError{Ref: call.Ref, Err: status}
}

// resourceOf returns the resource of a call.
func resourceOf(call Call) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(call.Ref.Kind)
	resource := plural.GroupResource()
	if call.Subresource != "" {
		resource.Resource += "/" + call.Subresource
	}
	return resource
}

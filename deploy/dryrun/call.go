package dryrun

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Verb is the verb of a request.
type Verb string

// The verbs of the requests that a Port sends, and of a subscription.
const (
	VerbGet    Verb = "get"
	VerbList   Verb = "list"
	VerbWatch  Verb = "watch"
	VerbCreate Verb = "create"
	VerbUpdate Verb = "update"
	// In a Fault, VerbPatch matches applies, too, because a server receives applies as patches.
	VerbPatch  Verb = "patch"
	VerbApply  Verb = "apply"
	VerbDelete Verb = "delete"
	// VerbDiscover is the verb of Scope and Kinds of a Port.
	VerbDiscover Verb = "discover"
)

// Call is one request as the cluster received it.
type Call struct {
	// Verb is the verb of the request.
	Verb Verb
	// Ref names the object. It has no name if the request isn't about a single object.
	Ref deploy.Ref
	// Subresource is the subresource that was written, such as status. It is empty for the object itself.
	Subresource string
	// FieldManager, Force and DryRun are the options of a write.
	FieldManager string
	Force        bool
	DryRun       bool
	// Object is a copy of the object that an apply, creation or update sent, in the form in which a server receives it.
	// Object is nil for other requests.
	Object *unstructured.Unstructured
	// Body is the body of a patch.
	Body []byte
	// UID is the precondition of a deletion.
	UID types.UID
}

// String returns the call on one line: "apply ConfigMap shop/settings force", or "list ConfigMap shop/" for a list.
func (c Call) String() string {
	parts := []string{string(c.Verb), c.Ref.String()}
	if c.Subresource != "" {
		parts = append(parts, c.Subresource)
	}
	if c.Force {
		parts = append(parts, "force")
	}
	if c.DryRun {
		parts = append(parts, "dry-run")
	}
	return strings.Join(parts, " ")
}

// Recording holds the requests that a cluster received since the recording began. It is safe for concurrent use.
type Recording struct {
	stop func()

	mu    sync.Mutex
	calls []Call
}

// Record records the requests to the Port, including requests that fail, from now on until Stop is called. It doesn't
// record reads from the View or calls of Scope and Kinds.
func (c *Cluster) Record() *Recording {
	r := &Recording{}
	r.stop = func() {
		c.traffic.mu.Lock()
		defer c.traffic.mu.Unlock()
		c.traffic.recordings = slices.DeleteFunc(c.traffic.recordings, func(other *Recording) bool { return other == r })
	}
	c.traffic.mu.Lock()
	defer c.traffic.mu.Unlock()
	c.traffic.recordings = append(c.traffic.recordings, r)
	return r
}

// Calls returns the recorded requests that weren't removed by Take, in the order in which they came.
func (r *Recording) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Take removes the recorded requests and returns them.
func (r *Recording) Take() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// Stop ends the recording. Calls and Take still return what was recorded.
func (r *Recording) Stop() { r.stop() }

func (r *Recording) add(call Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// traffic records requests and injects faults.
type traffic struct {
	mu         sync.Mutex
	recordings []*Recording
	faults     []*fault
}

// note adds a call to the recordings. It copies sent only if there is a recording.
func (t *traffic) note(call Call, sent *unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.recordings) == 0 || call.Verb == VerbDiscover || call.Verb == VerbWatch {
		return
	}
	call.Body = slices.Clone(call.Body)
	for _, r := range t.recordings {
		if sent != nil {
			// If the object can't be sent, the call is recorded without it. The request is refused later.
			if content, err := asSent(sent); err == nil {
				call.Object = content
			}
		}
		r.add(call)
	}
}

// request records a call, injects the fault that matches it, and calls serve.
func request[T any](ctx context.Context, c *Cluster, call Call, sent *unstructured.Unstructured, serve func() (T, error)) (T, error) {
	var nothing T
	if err := interrupted(ctx, call.Verb, call.Ref); err != nil {
		return nothing, err
	}
	c.traffic.note(call, sent)
	met := c.traffic.meet(call)
	if err := met.delay(ctx, call); err != nil {
		return nothing, err
	}
	if met != nil && met.Code != 0 && !met.Lost {
		return nothing, met.Answer(call)
	}
	answer, err := serve()
	if met != nil && met.Lost && err == nil {
		return nothing, met.Answer(call)
	}
	return answer, err
}

// write is like request, but for writes. It calls serve with the declaration of the object's kind, under the lock.
func write[T any](ctx context.Context, c *Cluster, call Call, sent *unstructured.Unstructured, serve func(d *declaration) (T, error)) (T, error) {
	return request(ctx, c, call, sent, func() (T, error) {
		for {
			answer, err := locked(c, call, serve)
			if !errors.Is(err, errMoved) {
				return answer, err
			}
			if err := interrupted(ctx, call.Verb, call.Ref); err != nil {
				return answer, err
			}
		}
	})
}

func locked[T any](c *Cluster, call Call, serve func(d *declaration) (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, err := c.kinds.of(call.Ref.Kind)
	if err != nil {
		var nothing T
		return nothing, err
	}
	return serve(d)
}

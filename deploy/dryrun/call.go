package dryrun

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Verb names what a request asks for.
type Verb string

// The verbs of the requests that a Port sends, and of a subscription.
const (
	VerbGet    Verb = "get"
	VerbList   Verb = "list"
	VerbWatch  Verb = "watch"
	VerbCreate Verb = "create"
	VerbUpdate Verb = "update"
	// VerbPatch stands for an apply too where a Fault says it, as it does on a server.
	VerbPatch  Verb = "patch"
	VerbApply  Verb = "apply"
	VerbDelete Verb = "delete"
	// VerbDiscover asks which kinds there are: Scope and Kinds of a Port.
	VerbDiscover Verb = "discover"
)

// Call is one request as the cluster received it.
type Call struct {
	// Verb is what was asked for.
	Verb Verb
	// Ref is what it was about; without a name it was no single object.
	Ref deploy.Ref
	// Subresource is the part of the object that was written, such as status; empty: all but that.
	Subresource string
	// FieldManager, Force and DryRun are those of the options of a write.
	FieldManager string
	Force        bool
	DryRun       bool
	// Object is what was sent by an apply, creation or update: a copy, as it reaches a server; nil for all else.
	Object *unstructured.Unstructured
	// Body is what was sent by a patch.
	Body []byte
	// UID is the precondition of a deletion.
	UID types.UID
}

// String is the call on one line: "apply ConfigMap shop/settings force", or "list ConfigMap
// shop/" for a list.
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

// Recording holds the calls that a cluster received since the recording began. It is safe
// for concurrent use.
type Recording struct {
	stop func()

	mu    sync.Mutex
	calls []Call
}

// Record begins to write down the requests to the Port, those that fail included, until
// Stop. The reads of the View are none, nor are Scope and Kinds, which a server answers once.
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

// Calls returns the calls so far, in the order in which they came.
func (r *Recording) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Take returns the calls since Take was last called.
func (r *Recording) Take() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// Stop ends the recording; what it holds stays.
func (r *Recording) Stop() { r.stop() }

func (r *Recording) add(call Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// traffic is what happens to requests on their way.
type traffic struct {
	mu         sync.Mutex
	recordings []*Recording
	faults     []*fault
}

// note writes a call down. sent is copied only if somebody listens.
func (t *traffic) note(call Call, sent *unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.recordings) == 0 || call.Verb == VerbDiscover || call.Verb == VerbWatch {
		return
	}
	call.Body = slices.Clone(call.Body)
	for _, r := range t.recordings {
		if sent != nil {
			// What can't be sent is refused, and leaves nothing to be written down.
			if content, err := asSent(sent); err == nil {
				call.Object = content
			}
		}
		r.add(call)
	}
}

// request carries a call to serve, with all that can happen to it on the way there and back.
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
		return nothing, met.answer(call)
	}
	answer, err := serve()
	if met != nil && met.Lost && err == nil {
		return nothing, met.answer(call)
	}
	return answer, err
}

package traps

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// race has somebody else be quicker: between what an operator has read and what it writes of a Bundle and its children,
// the same object is edited. A write that relies on what was read is then refused by the API server.
type race struct {
	name   string
	client rest.Interface

	mu sync.Mutex
	// left tells of which paths a write is still to be raced; nil while there is no race.
	left map[string]bool
	// raced are the writes that somebody was quicker than, refused those that the API server has answered by a
	// conflict.
	raced, refused int
	failure        error
}

// newRace returns one that hasn't begun, about what begins with name.
func newRace(name string) *race { return &race{name: name} }

// begin has the next write of each object raced.
func (r *race) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = map[string]bool{}
	for _, path := range r.paths() {
		r.left[path] = true
	}
}

// end returns what came of it, and ends it.
func (r *race) end() (raced, refused int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = nil
	return r.raced, r.refused, r.failure
}

// paths are what is raced for: the status, and a child.
func (r *race) paths() []string {
	return []string{"/bundles/" + r.name, "/configmaps/" + r.name + "-message"}
}

// path tells which of the paths a write is for; empty when it is for none.
func (r *race) path(request *http.Request) string {
	if request.Method != http.MethodPut && request.Method != http.MethodPatch {
		return ""
	}
	for _, path := range r.paths() {
		if strings.HasSuffix(strings.TrimSuffix(request.URL.Path, "/status"), path) {
			return path
		}
	}
	return ""
}

// before implements faults.Hooks.Fault: it answers nothing itself.
func (r *race) before(request *http.Request) *apierrors.StatusError {
	path := r.path(request)
	if path == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.left[path] {
		return nil
	}
	r.left[path] = false
	r.raced++
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/edited":"%d"}}}`, r.raced)
	object := strings.TrimSuffix(request.URL.Path, "/status")
	if err := r.client.Patch(types.MergePatchType).AbsPath(object).Body(body).Do(request.Context()).Error(); err != nil {
		r.failure = fmt.Errorf("edit in between: %w", err)
	}
	return nil
}

// after counts the conflicts.
func (r *race) after(answer *http.Response) {
	if answer.StatusCode != http.StatusConflict || r.path(answer.Request) == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left != nil {
		r.refused++
	}
}

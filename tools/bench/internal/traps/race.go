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

// race edits an object between an operator's read and its write of the same object: of a Bundle or one of its children.
// The API server then refuses a write with the resourceVersion of the read.
type race struct {
	name   string
	client rest.Interface

	mu sync.Mutex
	// left has the paths whose next writes will be raced; it is nil while there is no race.
	left map[string]bool
	// raced counts the writes before which the object was edited. refused counts the writes that the API server refused
	// with a conflict.
	raced, refused int
	failure        error
}

// newRace returns a race that hasn't begun, for objects whose names begin with name.
func newRace(name string) *race { return &race{name: name} }

// begin starts the race: before the next write of each object, the object is edited.
func (r *race) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = map[string]bool{}
	for _, path := range r.paths() {
		r.left[path] = true
	}
}

// end ends the race and returns its counts.
func (r *race) end() (raced, refused int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = nil
	return r.raced, r.refused, r.failure
}

// paths returns the paths of the raced writes: the status and a child.
func (r *race) paths() []string {
	return []string{"/bundles/" + r.name, "/configmaps/" + r.name + "-message"}
}

// path returns the path that a write is for; empty for any other request.
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

// before implements faults.Hooks.Fault. It edits objects and never returns a response.
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

package playbook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/tools/hooks/internal/watches"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Input is a run to make. Entry and Object are required.
type Input struct {
	// Entry says what is run.
	Entry *watches.Entry
	// Object is the resource. It isn't changed.
	Object *unstructured.Unstructured
	// Finalizes: what is run is the finalizer of the entry.
	Finalizes bool
	// Kubeconfig is how modules reach the API. Without it, they don't.
	Kubeconfig []byte
	// Verbosity is how much Ansible writes, from 0 to watches.MaxVerbosity.
	Verbosity int
	// MaxArtifacts is how many runs of the object are kept, with this one. If it isn't positive, all are kept.
	MaxArtifacts int
}

// check returns an error if the Input can't be run.
func (in *Input) check() error {
	switch {
	case in.Entry == nil || in.Object == nil:
		return errors.New("playbook: nil Entry or Object")
	case in.Verbosity < 0 || in.Verbosity > watches.MaxVerbosity:
		return fmt.Errorf("playbook: verbosity %d: must be from 0 to %d", in.Verbosity, watches.MaxVerbosity)
	case !isSegment(in.Object.GetName()) || in.Object.GetNamespace() != "" && !isSegment(in.Object.GetNamespace()):
		return fmt.Errorf("playbook: %q/%q: not the name of an object", in.Object.GetNamespace(), in.Object.GetName())
	}
	return nil
}

// isSegment reports whether a name may be that of a folder.
func isSegment(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

package usercases

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/deploy"
)

const (
	// patience is how long a step may take.
	patience = 60 * time.Second
	// calm is how long the outcome of a step has to last.
	calm = time.Second
	// group is that of the resources.
	group = "try.example.com"
)

// scene is what one case has: a resource, and the objects that it had when the last step began.
type scene struct {
	t *testing.T
	*world
	// in is the namespace of the resource, empty for the one in the file.
	in       string
	resource *unstructured.Unstructured
	before   map[deploy.Ref]types.UID
}

// apply applies the objects of a file as a user does. Among them may be the resource of the case.
func (s *scene) apply(file string) {
	s.t.Helper()
	for _, obj := range documents(s.t, file) {
		if obj.GroupVersionKind().Group == group {
			if s.in != "" {
				obj.SetNamespace(s.in)
			}
			s.resource = obj
		}
		s.applyObject(obj)
	}
}

// applyText applies the one object of a text.
func (s *scene) applyText(text string) {
	s.t.Helper()
	s.applyObject(parse(s.t, []byte(text))[0])
}

func (s *scene) applyObject(obj *unstructured.Unstructured) {
	s.t.Helper()
	_, err := s.port.Apply(s.t.Context(), obj, deploy.ApplyOptions{FieldManager: user, Force: true})
	require.NoError(s.t, err)
}

// live reads the resource as it is now.
func (s *scene) live() (*unstructured.Unstructured, error) {
	obj, err := s.port.Get(s.t.Context(), deploy.RefOf(s.resource))
	if err == nil && obj == nil {
		err = fmt.Errorf("%s isn't there", deploy.RefOf(s.resource))
	}
	return obj, err
}

// await waits until all wants have come true, and are true a while later, too.
func (s *scene) await(wants ...want) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	check := func() error {
		var errs []error
		for _, want := range wants {
			errs = append(errs, want(s))
		}
		return errors.Join(errs...)
	}
	for {
		err := check()
		if err == nil && len(wants) > 0 {
			time.Sleep(calm)
			err = check()
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			require.FailNow(s.t, fmt.Sprintf("not within %s: %v", patience, err), s.report())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

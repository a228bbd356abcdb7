package usercases

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
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

func (s *scene) applyObject(obj *unstructured.Unstructured) {
	s.t.Helper()
	_, err := s.port.Apply(s.t.Context(), obj, deploy.ApplyOptions{FieldManager: user, Force: true})
	require.NoError(s.t, err)
}

// live reads the resource as it is now.
func (s *scene) live() (*unstructured.Unstructured, error) {
	return s.port.Get(s.t.Context(), deploy.RefOf(s.resource))
}

// refs name the objects of the resource, in the order of its components.
func (s *scene) refs() (refs []deploy.Ref) {
	s.t.Helper()
	components, _, err := unstructured.NestedSlice(s.resource.Object, "spec", "components")
	require.NoError(s.t, err)
	for _, component := range components {
		text, _, _ := unstructured.NestedString(component.(map[string]any), "yaml")
		objects := parse(s.t, []byte(text))
		list, _, _ := unstructured.NestedSlice(component.(map[string]any), "objects")
		for _, content := range list {
			objects = append(objects, &unstructured.Unstructured{Object: content.(map[string]any)})
		}
		for _, obj := range objects {
			ref := deploy.RefOf(obj)
			if ref.Namespace == "" {
				ref.Namespace = s.resource.GetNamespace()
			}
			refs = append(refs, ref)
		}
	}
	return refs
}

// ref names the object of the resource that has a kind.
func (s *scene) ref(kind string) deploy.Ref {
	s.t.Helper()
	for _, ref := range s.refs() {
		if ref.Kind.Kind == kind {
			return ref
		}
	}
	require.Fail(s.t, "the resource has no "+kind)
	return deploy.Ref{}
}

// claims are those that a workload has made for the resource: cases label Pods by its name.
func (s *scene) claims(ctx context.Context) ([]*unstructured.Unstructured, error) {
	of := deploy.ListOptions{Labels: labelled("app", s.resource.GetName())}
	return s.port.List(ctx, schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, s.resource.GetNamespace(), of)
}

// remember keeps the uids of the objects and claims that are there, to compare those of the next step with.
func (s *scene) remember() {
	s.t.Helper()
	s.before = map[deploy.Ref]types.UID{}
	for _, ref := range s.refs() {
		obj, err := s.port.Get(s.t.Context(), ref)
		if isAbsent(err) {
			continue
		}
		require.NoError(s.t, err)
		s.before[ref] = obj.GetUID()
	}
	claims, err := s.claims(s.t.Context())
	require.NoError(s.t, err)
	for _, claim := range claims {
		s.before[deploy.RefOf(claim)] = claim.GetUID()
	}
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

// report is what there is to see of the resource, for people.
func (s *scene) report() string {
	if s.resource == nil {
		return "no resource is applied yet"
	}
	var text strings.Builder
	if live, err := s.live(); err != nil {
		fmt.Fprintf(&text, "%v\n", err)
	} else {
		fmt.Fprintf(&text, "%s, generation %d\n", deploy.RefOf(live), live.GetGeneration())
		for _, c := range status.Conditions(live).List() {
			fmt.Fprintf(&text, "  %s=%s %s (of generation %d): %s\n", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message)
		}
	}
	for _, ref := range s.refs() {
		obj, err := s.port.Get(s.t.Context(), ref)
		if err != nil {
			fmt.Fprintf(&text, "  %v\n", err)
			continue
		}
		fmt.Fprintf(&text, "  %s: uid %s, was %s, deleted %v, status %v\n", ref, obj.GetUID(), s.before[ref], obj.GetDeletionTimestamp(), obj.Object["status"])
	}
	events, _ := s.events()
	for _, event := range events {
		fmt.Fprintf(&text, "  event: %s\n", event)
	}
	return text.String()
}

// events are the reasons and notes of those that the operator has written about the resource.
func (s *scene) events() (texts []string, err error) {
	kind := schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}
	events, err := s.port.List(s.t.Context(), kind, s.resource.GetNamespace(), deploy.ListOptions{})
	for _, event := range events {
		about, _, _ := unstructured.NestedString(event.Object, "regarding", "name")
		kind, _, _ := unstructured.NestedString(event.Object, "regarding", "kind")
		if about == s.resource.GetName() && kind == s.resource.GetKind() {
			reason, _, _ := unstructured.NestedString(event.Object, "reason")
			note, _, _ := unstructured.NestedString(event.Object, "note")
			texts = append(texts, reason+": "+note)
		}
	}
	return texts, err
}

func isAbsent(err error) bool {
	var absent *deploy.NotFoundError
	return errors.As(err, &absent)
}

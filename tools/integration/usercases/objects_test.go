package usercases

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/deploy"
)

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
func (s *scene) claims() ([]*unstructured.Unstructured, error) {
	of := deploy.ListOptions{Labels: labels.SelectorFromSet(labels.Set{"app": s.resource.GetName()})}
	return s.port.List(s.t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}, s.resource.GetNamespace(), of)
}

// remember keeps the uids of the objects and claims that are there, to compare those of the next step with.
func (s *scene) remember() {
	s.t.Helper()
	s.before = map[deploy.Ref]types.UID{}
	for _, ref := range s.refs() {
		obj, err := s.port.Get(s.t.Context(), ref)
		require.NoError(s.t, err)
		if obj != nil {
			s.before[ref] = obj.GetUID()
		}
	}
	claims, err := s.claims()
	require.NoError(s.t, err)
	for _, claim := range claims {
		s.before[deploy.RefOf(claim)] = claim.GetUID()
	}
}

// standing reads an object that exists and isn't being deleted.
func standing(s *scene, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := s.port.Get(s.t.Context(), ref)
	switch {
	case err != nil:
		return nil, err
	case obj == nil:
		return nil, fmt.Errorf("%s isn't there", ref)
	case obj.GetDeletionTimestamp() != nil:
		return nil, fmt.Errorf("%s is being deleted", ref)
	}
	return obj, nil
}

package main

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistration "k8s.io/kube-aggregator/pkg/client/applyconfiguration"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// client is one client library: the kinds it knows and how they merge.
type client struct {
	scheme *runtime.Scheme
	types  managedfields.TypeConverter
}

func clients() ([]client, error) {
	extensions, registration := runtime.NewScheme(), runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(extensions); err != nil {
		return nil, err
	}
	if err := apiregistrationv1.AddToScheme(registration); err != nil {
		return nil, err
	}
	return []client{
		{scheme.Scheme, applyconfigurations.NewTypeConverter(scheme.Scheme)},
		{extensions, apiextensions.NewTypeConverter(extensions)},
		{registration, apiregistration.NewTypeConverter(registration)},
	}, nil
}

// released matches the versions that a server serves by default.
var released = regexp.MustCompile(`^v[0-9]+$`)

// notStored are kinds that a server serves but doesn't store.
var notStored = []schema.GroupKind{{Kind: "ComponentStatus"}, {Group: "policy", Kind: "Eviction"}}

// kind is a kind that a server serves, with the name of its type.
type kind struct {
	schema.GroupVersionKind
	typeName string
	schema   *smd.Schema
}

// kinds returns the kinds of a client library that a server stores, in ascending order.
func (c client) kinds() ([]kind, error) {
	var kinds []kind
	for gvk := range c.scheme.AllKnownTypes() {
		if !released.MatchString(gvk.Version) || slices.Contains(notStored, gvk.GroupKind()) {
			continue
		}
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(gvk)
		name, err := c.scheme.ToOpenAPIDefinitionName(gvk)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", gvk, err)
		}
		value, err := c.types.ObjectToTyped(obj)
		if err != nil {
			// Lists and options have no type of their own.
			continue
		}
		if isObject(value.Schema(), name) {
			kinds = append(kinds, kind{gvk, name, value.Schema()})
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.String(), b.String()) })
	return kinds, nil
}

// isObject reports whether a type has the fields of a Kubernetes object.
func isObject(s *smd.Schema, name string) bool {
	def, ok := s.FindNamedType(name)
	if !ok || def.Map == nil {
		return false
	}
	for _, field := range []string{"apiVersion", "kind", "metadata"} {
		if _, ok := def.Map.FindField(field); !ok {
			return false
		}
	}
	return true
}

// clusterScoped returns the kinds that are cluster-scoped in any version, in ascending order.
func (s *sources) clusterScoped(all []client) ([]schema.GroupKind, error) {
	var kinds []schema.GroupKind
	for _, client := range all {
		for gvk, goType := range client.scheme.AllKnownTypes() {
			if !strings.HasPrefix(goType.PkgPath(), "k8s.io/") || goType.Kind() != reflect.Struct {
				continue
			}
			declared, err := s.declaration(goType)
			if err != nil {
				return nil, err
			}
			if declared.has("+genclient:nonNamespaced") {
				kinds = append(kinds, gvk.GroupKind())
			}
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(kinds), nil
}

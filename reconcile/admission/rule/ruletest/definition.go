package ruletest

import (
	"errors"
	"fmt"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scheme has the types of definitions, their defaults and conversions.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	install.Install(s)
	return s
}()

// Definition is a CustomResourceDefinition with rules, compiled. It may be used concurrently.
type Definition struct {
	kind       schema.GroupKind
	namespaced bool
	versions   map[string]*servedVersion
	costs      Costs
}

// CompileDefinition compiles a definition with the rules of a set as the API server does when the definition is
// created. The definition may have the rules of the set already, and others. The error has all mistakes: those of
// rule.Set.AddTo, and those that the API server finds, for rules with their number in the set and their field.
func CompileDefinition(set rule.Set, definition *unstructured.Unstructured, opts ...Option) (*Definition, error) {
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	if definition == nil {
		return nil, errNoDefinition
	}
	if kind := definition.GroupVersionKind(); kind.Kind != definitionKind || kind.GroupVersion() != apiextensionsv1.SchemeGroupVersion {
		return nil, fmt.Errorf("definition %s: it is a %s of %s: pass a %s of %s", definition.GetName(),
			kind.Kind, kind.GroupVersion(), definitionKind, apiextensionsv1.SchemeGroupVersion)
	}
	ruled, err := set.AddTo(definition, o.versions...)
	if err != nil {
		return nil, err
	}
	typed, internal, err := parse(ruled)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", definition.GetName(), err)
	}
	rules := locate(set, internal, o.environment)
	errs := mistakes(rules, validation.ValidateCustomResourceDefinition(unbounded(), internal))
	if err := errors.Join(append(errs, o.olderMistakes(rules)...)...); err != nil {
		return nil, fmt.Errorf("definition %s: %w", definition.GetName(), err)
	}
	return newDefinition(typed, rules)
}

// parse returns a definition in its two forms, as it is after its defaults are set and before it is validated.
func parse(definition *unstructured.Unstructured) (*apiextensionsv1.CustomResourceDefinition, *apiextensions.CustomResourceDefinition, error) {
	typed, internal := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	content, err := unstructuredOf(definition)
	if err != nil {
		return nil, nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content.Object, typed, true); err != nil {
		return nil, nil, err
	}
	typed.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	scheme.Default(typed)
	names := typed.Spec.Names
	typed.Status.AcceptedNames = names
	return typed, internal, scheme.Convert(typed, internal, nil)
}

// newDefinition compiles the versions of a definition that is valid.
func newDefinition(typed *apiextensionsv1.CustomResourceDefinition, rules []located) (*Definition, error) {
	d := &Definition{
		kind:       schema.GroupKind{Group: typed.Spec.Group, Kind: typed.Spec.Names.Kind},
		namespaced: typed.Spec.Scope == apiextensionsv1.NamespaceScoped,
		versions:   map[string]*servedVersion{},
	}
	for i := range typed.Spec.Versions {
		v, err := newVersion(typed, i)
		if err != nil {
			return nil, fmt.Errorf("definition %s: version %s: %w", typed.Name, typed.Spec.Versions[i].Name, err)
		}
		d.versions[typed.Spec.Versions[i].Name] = v
	}
	for _, l := range rules {
		v := d.versions[l.version]
		v.alone = append(v.alone, newAlone(v.structural, &l))
		d.costs = append(d.costs, l.cost)
	}
	return d, nil
}

// Costs returns the estimated costs of all rules of the definition, in the order of its versions and schemas.
func (d *Definition) Costs() Costs { return d.costs }

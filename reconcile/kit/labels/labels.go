package labels

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The keys of the labels. They are reserved: users can't set them.
const (
	NameKey      = "app.kubernetes.io/name"
	InstanceKey  = "app.kubernetes.io/instance"
	ComponentKey = "app.kubernetes.io/component"
	PartOfKey    = "app.kubernetes.io/part-of"
	ManagedByKey = "app.kubernetes.io/managed-by"
	VersionKey   = "app.kubernetes.io/version"
)

// Labels are the labels of the objects of one component. Values may be any texts: see Value. A label whose value is
// empty is left out. The zero value has no labels.
type Labels struct {
	// Name is the name of the application, such as "mysql".
	Name string
	// Instance tells the instances of the application apart, such as the name of the resource.
	Instance string
	// Component is the part of the application, such as "database".
	Component string
	// PartOf is the application that this one belongs to.
	PartOf string
	// ManagedBy is the name of the operator.
	ManagedBy string
	// Version is the version of the application.
	Version string

	// domain is that of the keys of the operator, empty if it isn't known.
	domain string
}

// Of returns the labels of a component of the resource of a session. Name is the kind of the resource in lower case,
// Instance its name, ManagedBy the field manager of the operator, and Version Session.Version. component may be empty.
// A long instance is shortened by Session.TruncatedName. Change Name only before the first release: it is part of the
// selector.
func Of(s *reconcile.Session, component string) Labels {
	return Labels{
		Name: strings.ToLower(s.Kind().Kind), Instance: s.TruncatedName(s.Name()), Component: component,
		ManagedBy: s.Manager().FieldManager(), Version: s.Version(), domain: s.Manager().KeyDomain(),
	}
}

// Selector returns the labels for selectors: name, instance and component. Pod templates need them, too. The caller may
// change the map.
func (l Labels) Selector() map[string]string {
	return values(map[string]string{NameKey: l.Name, InstanceKey: l.Instance, ComponentKey: l.Component})
}

// All returns all labels, for the metadata of objects. The caller may change the map.
func (l Labels) All() map[string]string {
	all := values(map[string]string{PartOfKey: l.PartOf, ManagedByKey: l.ManagedBy, VersionKey: l.Version})
	maps.Copy(all, l.Selector())
	return all
}

// With returns All with the labels of a user. It doesn't change user. A reserved key, or a key or value that the
// cluster would refuse, is an error. In the labels that Of returns, keys with the domain of the operator are reserved,
// too, because the operator finds its objects by them. The error is one request.Configuration error that names all of
// them; wrap it with the name of the field that the labels are from.
func (l Labels) With(user map[string]string) (map[string]string, error) {
	all := l.All()
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(user)) {
		wrong := func(what string) { errs = append(errs, fmt.Errorf("label %s: %s", key, what)) }
		if l.reserves(key) {
			wrong("it is set by the operator: remove it")
		}
		for _, what := range validation.IsQualifiedName(key) {
			wrong("its key: " + what)
		}
		for _, what := range validation.IsValidLabelValue(user[key]) {
			wrong("its value: " + what)
		}
		all[key] = user[key]
	}
	if err := errors.Join(errs...); err != nil {
		return nil, request.Configuration("%w", err)
	}
	return all, nil
}

func (l Labels) reserves(key string) bool {
	return l.domain != "" && strings.HasPrefix(key, l.domain+"/") || slices.Contains([]string{NameKey, InstanceKey, ComponentKey, PartOfKey, ManagedByKey, VersionKey}, key)
}

func values(texts map[string]string) map[string]string {
	for key, text := range texts {
		if texts[key] = Value(text); text == "" {
			delete(texts, key)
		}
	}
	return texts
}

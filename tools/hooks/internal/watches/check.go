package watches

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check returns the mistakes of an entry, and makes its paths absolute.
func (e *Entry) check(find paths) field.ErrorList {
	errs := checkKind(nil, e.Kind)
	if e.Source == (Source{}) {
		errs = append(errs, field.Required(field.NewPath("playbook"), "set playbook or role"))
	}
	errs = append(errs, e.Source.check(nil, find)...)
	if e.ReconcilePeriod < 0 {
		errs = append(errs, field.Invalid(field.NewPath("reconcilePeriod"), e.ReconcilePeriod.String(), "must not be negative"))
	}
	if _, err := metav1.LabelSelectorAsSelector(&e.Selector); err != nil {
		errs = append(errs, field.Invalid(field.NewPath("selector"), "", err.Error()))
	}
	manages := field.NewPath("manages")
	seen := map[schema.GroupVersionKind]bool{}
	for i, kind := range e.Manages {
		if seen[kind] {
			errs = append(errs, field.Duplicate(manages.Index(i), kind.Kind))
		}
		seen[kind] = true
	}
	if len(e.Manages) > 0 && e.ServiceAccount == nil {
		errs = append(errs, field.Forbidden(manages, "a run without a serviceAccount writes nothing: set serviceAccount"))
	}
	return errs
}

// check returns the mistakes of a source, and makes its path absolute.
func (s *Source) check(at *field.Path, find paths) (errs field.ErrorList) {
	if s.Playbook != "" && s.Role != "" {
		return append(errs, field.Forbidden(at.Child("role"), "playbook is set: use one of them"))
	}
	if s.Playbook != "" {
		found, err := find.playbook(s.Playbook)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child("playbook"), s.Playbook, err.Error()))
		}
		s.Playbook = found
	}
	if s.Role != "" {
		found, err := find.role(s.Role)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child("role"), s.Role, err.Error()))
		}
		s.Role = found
	}
	return errs
}

func (f *Finalizer) check(at *field.Path, find paths) (errs field.ErrorList) {
	if f.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), "name the finalizer, such as cache.example.com/finalizer"))
	} else {
		for _, fault := range validation.IsQualifiedName(f.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), f.Name, fault))
		}
	}
	if f.Source == (Source{}) && len(f.Vars) == 0 {
		errs = append(errs, field.Required(at.Child("playbook"), "set playbook, role or vars"))
	}
	return append(errs, f.Source.check(at, find)...)
}

func (a *ServiceAccount) check(at *field.Path) (errs field.ErrorList) {
	if a.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), "name the ServiceAccount"))
	} else {
		for _, fault := range validation.IsDNS1123Subdomain(a.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), a.Name, fault))
		}
	}
	if a.Namespace != "" {
		for _, fault := range validation.IsDNS1123Label(a.Namespace) {
			errs = append(errs, field.Invalid(at.Child("namespace"), a.Namespace, fault))
		}
	}
	return errs
}

// checkKind returns the mistakes of a kind. The group may be empty.
func checkKind(at *field.Path, kind schema.GroupVersionKind) (errs field.ErrorList) {
	if kind.Group != "" {
		for _, fault := range validation.IsDNS1123Subdomain(kind.Group) {
			errs = append(errs, field.Invalid(at.Child("group"), kind.Group, fault))
		}
	}
	if kind.Version == "" {
		errs = append(errs, field.Required(at.Child("version"), "set the version, such as v1"))
	} else {
		for _, fault := range validation.IsDNS1035Label(kind.Version) {
			errs = append(errs, field.Invalid(at.Child("version"), kind.Version, fault))
		}
	}
	return append(errs, checkName(at.Child("kind"), kind.Kind)...)
}

// checkName returns the mistakes of the name of a kind.
func checkName(at *field.Path, kind string) (errs field.ErrorList) {
	if kind == "" {
		return append(errs, field.Required(at, "set the kind, such as Memcached"))
	}
	for range validation.IsDNS1035Label(strings.ToLower(kind)) {
		return append(errs, field.Invalid(at, kind, "must be the name of a kind, such as Memcached"))
	}
	return errs
}

// parseKind returns the kind with an apiVersion and a name.
func parseKind(at *field.Path, version, kind string) (found schema.GroupVersionKind, errs field.ErrorList) {
	parsed, err := schema.ParseGroupVersion(version)
	switch {
	case version == "":
		errs = append(errs, field.Required(at.Child("apiVersion"), "set <group>/<version>, or v1"))
	case err != nil || parsed.Version == "":
		errs = append(errs, field.Invalid(at.Child("apiVersion"), version, "must be <group>/<version>, or v1"))
	}
	return parsed.WithKind(kind), append(errs, checkName(at.Child("kind"), kind)...)
}

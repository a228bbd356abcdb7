package definition

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var spec = field.NewPath("spec")

// check returns all mistakes.
func (s *compositeSpec) check() error {
	parent := spec.Child("parentResource")
	errs := s.Parent.check(parent)
	if s.Parent.Annotations != nil {
		errs = append(errs, field.Forbidden(parent.Child("annotationSelector"), "only a DecoratorController selects by annotations: use labelSelector"))
	}
	if s.Parent.Revisions != nil {
		for i, path := range s.Parent.Revisions.FieldPaths {
			errs = append(errs, checkPath(parent.Child("revisionHistory", "fieldPaths").Index(i), path)...)
		}
	}
	errs = append(errs, checkChildren(spec.Child("childResources"), s.Children)...)
	return append(errs, s.Common.check()...).ToAggregate()
}

// check returns all mistakes.
func (s *decoratorSpec) check() error {
	var errs field.ErrorList
	parents, attachments := spec.Child("resources"), spec.Child("attachments")
	if len(s.Parents) == 0 {
		errs = append(errs, field.Required(parents, "name the resources that are decorated"))
	}
	seen := map[string]bool{}
	for i, rule := range s.Parents {
		at := parents.Index(i)
		errs = append(errs, rule.check(at)...)
		if rule.Revisions != nil {
			errs = append(errs, field.Forbidden(at.Child("revisionHistory"), "only a CompositeController has revisions"))
		}
		errs = append(errs, rule.unique(at, seen)...)
	}
	errs = append(errs, checkChildren(attachments, s.Attachments)...)
	for i, rule := range s.Attachments {
		if rule.Update != nil && len(rule.Update.Checks.Conditions) > 0 {
			errs = append(errs, field.Forbidden(attachments.Index(i).Child("updateStrategy", "statusChecks"), "only a CompositeController has checks"))
		}
	}
	return append(errs, s.Common.check()...).ToAggregate()
}

// check returns the mistakes of what the definitions have in common.
func (c *Common) check() (errs field.ErrorList) {
	hooks := spec.Child("hooks")
	if c.Hooks.Sync == nil && c.Hooks.Finalize == nil {
		errs = append(errs, field.Required(hooks, "set sync, finalize, or both"))
	}
	errs = append(errs, c.Hooks.Sync.check(hooks.Child("sync"))...)
	errs = append(errs, c.Hooks.Finalize.check(hooks.Child("finalize"))...)
	errs = append(errs, c.Hooks.Customize.check(hooks.Child("customize"))...)
	seen := map[string]bool{}
	for i, endpoint := range c.Endpoints {
		at := spec.Child("endpointConfigs").Index(i)
		errs = append(errs, endpoint.check(at)...)
		host := strings.ToLower(endpoint.Host)
		if seen[host] && host != "" {
			errs = append(errs, field.Duplicate(at.Child("host"), endpoint.Host))
		}
		seen[host] = true
	}
	if c.ResyncSeconds != nil && *c.ResyncSeconds < 0 {
		errs = append(errs, field.Invalid(spec.Child("resyncPeriodSeconds"), *c.ResyncSeconds, "must not be negative"))
	}
	return errs
}

// Check returns the mistakes in the name of a resource.
func (r Resource) Check() error { return r.check(nil).ToAggregate() }

func (r Resource) check(at *field.Path) (errs field.ErrorList) {
	version, err := schema.ParseGroupVersion(r.APIVersion)
	switch {
	case r.APIVersion == "":
		errs = append(errs, field.Required(at.Child("apiVersion"), "set <group>/<version>, or v1"))
	case err != nil || version.Version == "":
		errs = append(errs, field.Invalid(at.Child("apiVersion"), r.APIVersion, "must be <group>/<version>, or v1"))
	}
	switch {
	case r.Resource == "":
		errs = append(errs, field.Required(at.Child("resource"), "set the plural name, such as pods"))
	case r.Resource != strings.ToLower(r.Resource) || strings.ContainsAny(r.Resource, "/. "):
		errs = append(errs, field.Invalid(at.Child("resource"), r.Resource, "must be the plural name in lower case, such as pods, without a group"))
	}
	return errs
}

// unique returns an error if the resource was seen before, in any version.
func (r Resource) unique(at *field.Path, seen map[string]bool) (errs field.ErrorList) {
	version, _ := schema.ParseGroupVersion(r.APIVersion)
	name := r.Resource + "." + version.Group
	if seen[name] && r.Resource != "" {
		errs = append(errs, field.Duplicate(at, r.Resource))
	}
	seen[name] = true
	return errs
}

func (p *ParentRule) check(at *field.Path) field.ErrorList {
	errs := p.Resource.check(at)
	if _, err := metav1.LabelSelectorAsSelector(p.LabelSelector); err != nil {
		errs = append(errs, field.Invalid(at.Child("labelSelector"), "", err.Error()))
	}
	if _, err := p.Annotations.Selector(); err != nil {
		errs = append(errs, field.Invalid(at.Child("annotationSelector"), "", err.Error()))
	}
	return errs
}

// Selector returns the selector of annotations; nil selects all.
func (s *AnnotationSelector) Selector() (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: s.MatchAnnotations, MatchExpressions: s.MatchExpressions})
}

// checkPath returns an error for a path that isn't of names with dots between them.
func checkPath(at *field.Path, path string) (errs field.ErrorList) {
	for name := range strings.SplitSeq(path, ".") {
		if name == "" || strings.ContainsAny(name, "[]*{}' ") {
			return append(errs, field.Invalid(at, path, "must be names with dots between them, such as spec.template"))
		}
	}
	return nil
}

func checkChildren(at *field.Path, rules []ChildRule) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, rule := range rules {
		errs = append(errs, rule.check(at.Index(i))...)
		errs = append(errs, rule.unique(at.Index(i), seen)...)
		if rule.Update != nil {
			errs = append(errs, rule.Update.check(at.Index(i).Child("updateStrategy"))...)
		}
	}
	return errs
}

// methods are the values of Update.Method.
var methods = []string{"", "OnDelete", "Recreate", "InPlace", "RollingRecreate", "RollingInPlace"}

func (u *Update) check(at *field.Path) (errs field.ErrorList) {
	if !slices.Contains(methods, u.Method) {
		errs = append(errs, field.NotSupported(at.Child("method"), u.Method, methods[1:]))
	}
	checks := at.Child("statusChecks")
	if len(u.Checks.Conditions) > 0 && !strings.HasPrefix(u.Method, "Rolling") {
		errs = append(errs, field.Forbidden(checks, "only RollingRecreate and RollingInPlace wait for checks"))
	}
	for i, condition := range u.Checks.Conditions {
		if condition.Type == "" {
			errs = append(errs, field.Required(checks.Child("conditions").Index(i).Child("type"), "name the condition, such as Ready"))
		}
	}
	return errs
}

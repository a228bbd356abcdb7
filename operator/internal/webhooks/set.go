package webhooks

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/admission/rule"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Hooks are the webhooks of one kind.
type Hooks interface {
	Webhooks() ([]*admission.Webhook, error)
}

// Converter converts the objects of one kind between its versions.
type Converter interface {
	Kind() schema.GroupKind
	Path() string
	Check() error
	KeyDomain(domain string)
	Handler(logger *slog.Logger) http.Handler
}

// Set is all that an operator answers, and the policies that it keeps. The zero value is empty.
type Set struct {
	webhooks   []*admission.Webhook
	converters []Converter
	policies   []*unstructured.Unstructured
	errs       []error
}

// Admit adds the webhooks of a kind.
func (s *Set) Admit(hooks Hooks) {
	if hooks == nil {
		s.fail(errors.New("nil admission: pass Hooks to Admit"))
		return
	}
	added, err := hooks.Webhooks()
	s.fail(err)
	for _, w := range added {
		for _, other := range s.webhooks {
			if other.Name() == w.Name() {
				s.fail(fmt.Errorf("two webhooks are called %s: use the option Named to tell the Hooks of one kind apart", w.Name()))
			}
		}
	}
	s.webhooks = append(s.webhooks, added...)
}

// Convert adds the conversion of a kind.
func (s *Set) Convert(c Converter) {
	if c == nil {
		s.fail(errors.New("nil conversion: pass a Converter to Convert"))
		return
	}
	s.fail(c.Check())
	for _, other := range s.converters {
		if other.Kind() == c.Kind() {
			s.fail(fmt.Errorf("the kind %s has two conversions: add all versions to one Converter", c.Kind()))
		}
	}
	s.converters = append(s.converters, c)
}

// Enforce adds a policy with rules.
func (s *Set) Enforce(rules rule.Set, policy rule.Policy) {
	made, binding, err := rules.Policy(policy)
	if err != nil {
		s.fail(err)
		return
	}
	for _, other := range s.policies {
		if other.GetName() == policy.Name && other.GetKind() == made.Kind {
			s.fail(fmt.Errorf("two policies are called %s: add all rules to one, or give them other names", policy.Name))
			return
		}
	}
	for _, one := range []any{made, binding} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(one)
		s.fail(err)
		object := &unstructured.Unstructured{Object: content}
		unstructured.RemoveNestedField(object.Object, "status")
		unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
		s.policies = append(s.policies, object)
	}
}

func (s *Set) fail(err error) {
	if err != nil {
		s.errs = append(s.errs, err)
	}
}

// Check returns all mistakes of the registration.
func (s *Set) Check() error { return errors.Join(s.errs...) }

// Empty reports whether there is nothing to serve and nothing to keep.
func (s *Set) Empty() bool { return !s.Serves() && len(s.policies) == 0 }

// Serves reports whether there is something that the API server asks the operator.
func (s *Set) Serves() bool { return len(s.webhooks)+len(s.converters) > 0 }

// Converted returns the kinds with conversions.
func (s *Set) Converted() (kinds []schema.GroupKind) {
	for _, c := range s.converters {
		kinds = append(kinds, c.Kind())
	}
	return kinds
}

// KeyDomain sets the domain of the annotations of conversions.
func (s *Set) KeyDomain(domain string) {
	for _, c := range s.converters {
		c.KeyDomain(domain)
	}
}

// Handler answers the API server. around is called with each name, such as of a webhook or of a kind, and its handler.
func (s *Set) Handler(logger *slog.Logger, around func(name string, next http.Handler) http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, w := range s.webhooks {
		mux.Handle(w.Path(), around(w.Name(), w.Handler(logger)))
	}
	for _, c := range s.converters {
		mux.Handle(c.Path(), around("convert."+c.Kind().String(), c.Handler(logger)))
	}
	return mux
}

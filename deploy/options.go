package deploy

import (
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Domain is the domain of operkit's annotations, labels and finalizers when no other is set.
const Domain = "operkit.dev"

// Option sets what holds for a Manager, or for one call of it. Of two that set the same thing the last one wins; a nil
// Option is ignored. One with an invalid value is the error of NewManager, of With, or of the call; an
// owner without a uid (OwnedBy) only of the calls.
type Option func(*settings)

type settings struct {
	domain        string
	fieldManager  string
	owner         *unstructured.Unstructured
	ownerless     bool // an owner was given that is nil
	adoption      Adoption
	dryRun        bool
	stopOnFailure bool
	concurrency   int
	retryFor      time.Duration
	ready         func(*unstructured.Unstructured) bool
	conflicts     []conflictRule
	strategy      Strategy
	controller    bool
	labelOwned    bool
	ownerKinds    []schema.GroupVersionKind
	notBlocking   bool
	propagation   metav1.DeletionPropagation
	evenForeign   bool
	deletion      bool // what is judged is to be deleted
	untilGone     bool
	takeOverFrom  []string
	namespace     string
	onResult      func(Result)
	immutable     []immutableField
	// contents returns what a stand-in stands for; nil where there are none.
	contents contentsFunc
	// sum is the fingerprint of these settings. Only applies need it.
	sum uint64
	// validDomain is a domain that was found valid.
	validDomain string
	except      func(Ref) bool
	// inspect is called with each state of an object that the work on it looks at, nil for an absent one; its error
	// ends the work.
	inspect func(ref Ref, live *unstructured.Unstructured) error
	// recreateWait bounds how long a deleted object is waited for; zero leaves it with the context.
	recreateWait time.Duration
}

// Adoption is what to do with an object that exists and isn't owned by the owner (OwnedBy). Without an owner every
// object may be applied.
type Adoption int

// The policies of adoption.
const (
	// RefuseAdoption leaves such an object alone: *OwnedError.
	RefuseAdoption Adoption = iota
	// AdoptUnowned takes it if it has no owner at all.
	AdoptUnowned
	// AdoptAlways takes it beside any other owner, unless that one is its controller and ours would be, too. Each owner
	// then has a field manager of its own: the one that is set, with a digest of the owner's uid behind it. Under one
	// name a field that one owner leaves out would be taken from the other. Use it from the start: what was applied
	// under the plain name before stays that manager's.
	AdoptAlways
)

// FieldManager sets the name under which fields are owned; default "operkit". Operators
// that share a cluster need different names, and one name is used for one way of writing.
func FieldManager(name string) Option { return func(s *settings) { s.fieldManager = name } }

// KeyDomain sets the domain of the annotation that holds the hash; default Domain.
func KeyDomain(domain string) Option { return func(s *settings) { s.domain = domain } }

// OwnedBy gives every applied object an owner reference to owner, which must have a uid, and the owner's namespace to
// namespaced objects that name none. Only objects of this owner are changed, see Adoption, or deleted. An ApplySet also
// prunes members that nobody owns, if they may be adopted.
func OwnedBy(owner *unstructured.Unstructured) Option {
	return func(s *settings) { s.owner, s.ownerless = owner, owner == nil }
}

// Adopt sets the policy for objects that exist and aren't the owner's.
func Adopt(policy Adoption) Option { return func(s *settings) { s.adoption = policy } }

// DefaultNamespace sets the namespace of namespaced objects that name none. The namespace of an owner (OwnedBy) comes
// before it.
func DefaultNamespace(name string) Option { return func(s *settings) { s.namespace = name } }

// OnResult calls report with the Result of each object as soon as it is known, in any order, and again once the object
// was waited for (WaitReady). report is called by one goroutine at a time; the others wait until it returns.
func OnResult(report func(Result)) Option { return func(s *settings) { s.onResult = report } }

// DryRun sends every request as a server-side dry run: the cluster answers as it would, and changes nothing.
func DryRun() Option { return func(s *settings) { s.dryRun = true } }

// StopOnFailure applies one object after the other and stops at the first one that fails; the objects behind it are
// missing from the results. An object that isn't ready in time (WaitReady) has failed, too: a Namespace or
// CustomResourceDefinition that isn't ready stops the call before the objects that may need it.
func StopOnFailure() Option { return func(s *settings) { s.stopOnFailure = true } }

// RecreateWait bounds how long Recreate waits until the old object is gone. An object that isn't gone by then is a
// *TimeoutError, and a later Apply creates it. It is for callers that apply again anyway. Zero, the default, waits as
// long as ctx allows, DefaultWait without a deadline.
func RecreateWait(d time.Duration) Option { return func(s *settings) { s.recreateWait = d } }

// DefaultConcurrency is how many objects are worked on at once when no other number is set.
const DefaultConcurrency = 8

// Concurrency sets how many objects of one call are worked on at once; 0 works on one after the other, default
// DefaultConcurrency.
func Concurrency(n int) Option { return func(s *settings) { s.concurrency = n } }

// with returns the settings with options, of which the last one of a kind wins.
func (s settings) with(options []Option) (settings, error) {
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	if s.fieldManager == "" {
		return s, errors.New("field manager: its name is empty: name who owns the fields")
	}
	if err := s.checkDomain(); err != nil {
		return s, err
	}
	switch {
	case s.strategy != "" && !s.strategy.known():
		return s, fmt.Errorf("strategy %q: unknown: use one of %s", s.strategy, strategyNames)
	case s.ownerless:
		return s, errors.New("nil owner: read it from the cluster first")
	case s.concurrency < 0:
		return s, fmt.Errorf("concurrency %d: it is negative: use 0 for one object after the other", s.concurrency)
	case s.retryFor < 0:
		return s, fmt.Errorf("retry for %s: it is negative: use 0 to try once", s.retryFor)
	case s.recreateWait < 0:
		return s, fmt.Errorf("recreate wait %s: it is negative: use 0 for as long as the context allows", s.recreateWait)
	}
	return s, nil
}

// forCall returns the settings for one call, which needs a uid of the owner. With AdoptAlways each owner has a field
// manager of its own, also if these are settings for a call already.
func (s settings) forCall(options []Option) (settings, error) {
	s, err := s.with(options)
	switch {
	case err != nil || s.owner == nil:
		return s, err
	case s.owner.GetUID() == "":
		return s, fmt.Errorf("owner %s: it has no uid: read it from the cluster first", RefOf(s.owner))
	case s.adoption == AdoptAlways:
		suffix := "-" + hashString(string(s.owner.GetUID()))
		s.fieldManager = strings.TrimSuffix(s.fieldManager, suffix) + suffix
	}
	return s, nil
}

// checkDomain looks at a domain once: every call comes here, nearly always with the same one.
func (s *settings) checkDomain() error {
	if s.domain == s.validDomain && s.domain != "" {
		return nil
	}
	if problems := validation.IsQualifiedName(s.hashKey()); len(problems) > 0 {
		return fmt.Errorf("key domain %q: makes the annotation %s, which is not valid: %s", s.domain, s.hashKey(), problems[0])
	}
	s.validDomain = s.domain
	return nil
}

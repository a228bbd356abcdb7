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

// Domain is the default domain of operkit's annotations, labels and finalizers.
const Domain = "operkit.dev"

// Option sets an option of a Manager or of one call. If two options set the same thing, the last one wins. A nil Option
// is ignored. NewManager, With and the call that takes an Option return an error if its value is invalid. If an owner
// has no uid (OwnedBy), only the calls return an error.
type Option func(*settings)

type settings struct {
	domain        string
	fieldManager  string
	owner         *unstructured.Unstructured
	ownerless     bool // OwnedBy was given nil
	adoption      Adoption
	dryRun        bool
	stopOnFailure bool
	concurrency   int
	retryFor      time.Duration
	ready         func(*unstructured.Unstructured) bool
	conflicts     []conflictRule
	strategy      Strategy
	// kindStrategies are set by KindStrategy. The map is never changed.
	kindStrategies map[schema.GroupKind]Strategy
	controller     bool
	labelOwned     bool
	ownerKinds     []schema.GroupVersionKind
	anyOwnerKind   bool
	notBlocking    bool
	controlledToo  bool
	propagation    metav1.DeletionPropagation
	evenForeign    bool
	deletion       bool // the object is to be deleted
	untilGone      bool
	takeOverFrom   []string
	namespace      string
	onResult       func(Result)
	immutable      []immutableField
	// contents is set by Contents, nil if there are no stand-ins.
	contents contentsFunc
	// sum is the fingerprint of these settings. It is set only for applies.
	sum uint64
	// validDomain is the last domain that was found valid.
	validDomain string
	// inspect is called with each state of an object that is read. live is nil if the object is absent. An error ends
	// the work on the object.
	inspect func(ref Ref, live *unstructured.Unstructured) error
	// recreateWait is set by RecreateWait.
	recreateWait time.Duration
}

// Adoption is the policy for existing objects that the owner (OwnedBy) doesn't own. Without an owner, every object may
// be applied.
type Adoption int

// The policies of adoption.
const (
	// RefuseAdoption leaves the object alone and returns an *OwnedError.
	RefuseAdoption Adoption = iota
	// AdoptUnowned adopts the object if it has no owner at all.
	AdoptUnowned
	// AdoptAlways adds the owner to the object's other owners, unless there would be two controllers. Each owner then
	// has its own field manager, whose name is the FieldManager followed by a digest of the owner's uid. If all owners
	// had the same field manager, a field that one owner leaves out would be removed for the others, too. Use
	// AdoptAlways from the start: fields that were applied before still belong to the field manager without the digest.
	AdoptAlways
)

// FieldManager sets the name under which fields are owned; default "operkit". Operators that share a cluster need
// different names. Don't send other requests than applies for these objects under the same name.
func FieldManager(name string) Option { return func(s *settings) { s.fieldManager = name } }

// KeyDomain sets the domain of the annotation that holds the hash; default Domain.
func KeyDomain(domain string) Option { return func(s *settings) { s.domain = domain } }

// OwnedBy makes owner, which must have a uid, an owner of every applied object. It sets the owner's namespace on
// namespaced objects that name no namespace. Only objects of this owner are changed or deleted, see Adoption. An
// ApplySet also prunes members that nobody owns, if they may be adopted.
func OwnedBy(owner *unstructured.Unstructured) Option {
	return func(s *settings) { s.owner, s.ownerless = owner, owner == nil }
}

// Adopt sets the policy for existing objects that the owner doesn't own; default RefuseAdoption.
func Adopt(policy Adoption) Option { return func(s *settings) { s.adoption = policy } }

// DefaultNamespace sets the namespace of namespaced objects that name none. The namespace of an owner (OwnedBy) takes
// precedence.
func DefaultNamespace(name string) Option { return func(s *settings) { s.namespace = name } }

// OnResult calls report with the Result of each object as soon as the Result is known, in any order, and again after
// waiting for the object (WaitReady). report is called by one goroutine at a time; the others wait until it returns.
func OnResult(report func(Result)) Option { return func(s *settings) { s.onResult = report } }

// DryRun sends every request as a server-side dry run: the cluster returns what it would do, and changes nothing.
func DryRun() Option { return func(s *settings) { s.dryRun = true } }

// StopOnFailure applies one object after the other and stops at the first failure. The objects after it are missing
// from the results. An object that isn't ready in time (WaitReady) counts as a failure: if it is a Namespace or
// CustomResourceDefinition, the call stops before the objects that may need it.
func StopOnFailure() Option { return func(s *settings) { s.stopOnFailure = true } }

// RecreateWait limits how long Recreate waits until the old object is gone. If it isn't gone by then the error is a
// *TimeoutError, and a later Apply creates the new object. It is for callers that apply again anyway. Zero, the
// default, waits until the deadline of ctx, or for DefaultWait if ctx has none.
func RecreateWait(d time.Duration) Option { return func(s *settings) { s.recreateWait = d } }

// DefaultConcurrency is the default of Concurrency.
const DefaultConcurrency = 8

// Concurrency sets how many objects of one call are worked on at once. The default is DefaultConcurrency. 0 means one
// after the other.
func Concurrency(n int) Option { return func(s *settings) { s.concurrency = n } }

// with returns the settings with options.
func (s settings) with(options []Option) (settings, error) {
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	if s.fieldManager == "" {
		return s, errors.New("field manager: its name is empty: set the name under which fields are owned")
	}
	if err := s.checkDomain(); err != nil {
		return s, err
	}
	if err := s.checkStrategies(); err != nil {
		return s, err
	}
	switch {
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

// forCall returns the settings for one call. It returns an error if the owner has no uid. With AdoptAlways it sets the
// owner's field manager, unless the settings have it already.
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

// checkDomain checks the domain. It remembers the last valid domain, because nearly every call has the same one.
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

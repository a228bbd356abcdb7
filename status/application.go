package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// Keys of the status that an Application owns.
const (
	conditionsKey           = "conditions"
	observedGenerationKey   = "observedGeneration"
	reconciledGenerationKey = "reconciledGeneration"
	componentStatusKey      = "componentStatus"
	versionsKey             = "versions"
	operatorVersionKey      = "operatorVersion"
)

// Application is what a reconcile knows about its custom resource. The zero value of a field keeps the present content
// of the status. There is one exception: a present Ready or Updating condition can't be kept if its reason isn't one of
// the constants. Such a condition counts as absent and is removed, and Warn is called. This applies to the zero
// Application too.
type Application struct {
	// Ready and Updating are the content of the two conditions.
	Ready    ReadyVerdict
	Updating UpdatingVerdict

	// Components replaces status.componentStatus. If it is nil and a verdict is given, a present componentStatus is
	// marked with "stale: true", because it comes from an earlier reconcile.
	Components *ComponentState

	// Generation is the metadata.generation of the object that was reconciled. It becomes the observedGeneration of
	// each condition with a given verdict. If at least one verdict is given, it also becomes the observedGeneration of
	// the status; if both verdicts are Stable, its reconciledGeneration too. 0 changes no generation.
	Generation int64

	// Version is the version that has been fully verified. It becomes versions.reconciled.
	Version string
	// SupportedVersions are the versions that the operator offers. An empty list is written; nil keeps the present
	// list.
	SupportedVersions []string
	// OperatorVersion is the version of the operator itself.
	OperatorVersion string

	// Kind is the kind of the custom resource. If it is set, the service status is updated: the field fooServiceStatus
	// for the kind FooService.
	Kind string

	// Values are further fields, which are written too. A field that isn't among them stays as it is.
	Values Values

	// OnlyReady writes Ready as the only own condition, for kinds whose status schema has nothing else. Ready has the
	// message of the Updating verdict if there is one. While Ready is True and its observedGeneration is Generation, an
	// Updating verdict without a Ready verdict changes nothing. Components, the versions and Kind aren't written.
	// Updating, Reconciling, Stalled, the generations, components and versions are removed from the status.
	OnlyReady bool

	// Unmanaged disables all reads and writes of the status, for a status that somebody else writes.
	Unmanaged bool

	// Warn, if not nil, is called for each part of the present status that can't be used, and so counts as absent or is
	// replaced. Write also calls it when a read or write fails.
	Warn func(message string)
}

// Update computes the new status from the current one, and reports whether it differs meaningfully (see Changed). If it
// doesn't, next equals current and needs no write. current is the content of status, nil if the object has none. It
// isn't changed, and next shares no map or list with it. Conditions and keys that others wrote stay as they are, even
// keys inside versions and inside Ready or Updating. Duplicate conditions are merged.
//
// Errors: ErrInvalid for a reason that isn't one of the constants, for a Kind whose service status would be
// componentStatus, and for a negative Generation; ErrNoTime if now is zero or can't be written in RFC 3339. Update is a
// pure function, apart from calling Warn. An Unmanaged Application changes nothing.
func (a Application) Update(now time.Time, current map[string]any) (next map[string]any, changed bool, err error) {
	if err := a.validate(now); err != nil {
		return nil, false, err
	}
	if a.Unmanaged {
		return cloneMap(current), false, nil
	}
	if a.OnlyReady {
		next = a.onlyReady(now, current)
	} else {
		next = a.full(now, current)
	}
	if !Changed(current, next) {
		return cloneMap(current), false, nil
	}
	return next, true, nil
}

// full computes the whole new status from the current one.
func (a Application) full(now time.Time, current map[string]any) map[string]any {
	next := a.clone(current)
	list := mapsOf(condition.ListOf(next))
	ready, isReady := a.resolve(a.Ready.verdict(), list)
	updating, isUpdating := a.resolve(a.Updating.verdict(), list)

	own := make([]metav1.Condition, 0, 3)
	if isReady {
		own = append(own, ready)
	}
	if isUpdating {
		own = append(own, updating)
	}
	if c, ok := progress(ready, updating); ok {
		own = append(own, c)
	}
	next[conditionsKey] = arrange(list, own, now)

	a.setComponents(next)
	a.setVersions(next)
	a.setGenerations(next)
	a.Values.over(next)
	a.setService(next, ReadyReason(ready.Reason), UpdatingReason(updating.Reason))
	return next
}

func (a Application) validate(now time.Time) error {
	if !condition.Datable(now) {
		return fmt.Errorf("application status: %w", ErrNoTime)
	}
	if a.Generation < 0 {
		return fmt.Errorf("application status: %w: %d is negative", errInvalidGeneration, a.Generation)
	}
	if a.Kind != "" && serviceKey(a.Kind) == componentStatusKey {
		return fmt.Errorf("application status: %w: the service status of %s would be %s, which holds the components", errInvalidKind, a.Kind, componentStatusKey)
	}
	if err := a.Ready.verdict().validate(); err != nil {
		return fmt.Errorf("application status: %w", err)
	}
	if err := a.Updating.verdict().validate(); err != nil {
		return fmt.Errorf("application status: %w", err)
	}
	return nil
}

func (a Application) resolve(v verdict, list []any) (metav1.Condition, bool) {
	entry := condition.Find(list, v.conditionType)
	if at, present := entry[condition.LastTransitionTime]; present {
		if _, ok := condition.ParseTime(at); !ok {
			a.warn("condition %s: can't read %s %.64q: it counts as missing", v.conditionType, condition.LastTransitionTime, fmt.Sprint(at))
		}
	}
	return v.resolve(entry, a.Generation, a.warn)
}

func (a Application) warn(format string, arguments ...any) {
	if a.Warn != nil {
		a.Warn(fmt.Sprintf(format, arguments...))
	}
}

// clone copies the status deeply, except for a component status that is about to be replaced.
func (a Application) clone(current map[string]any) map[string]any {
	if a.Components == nil {
		return cloneMap(current)
	}
	next := make(map[string]any, len(current)+3)
	for key, value := range current {
		if key != componentStatusKey {
			value = clone(value)
		}
		next[key] = value
	}
	return next
}

func (a Application) hasVerdict() bool {
	return a.Ready.verdict().given() || a.Updating.verdict().given()
}

// setGenerations writes no generation unless a verdict is given. A kept condition may be of an older generation, and a
// reader that checks only status.observedGeneration would take it for current.
func (a Application) setGenerations(next map[string]any) {
	if a.Generation == 0 || !a.hasVerdict() {
		return
	}
	setInteger(next, observedGenerationKey, a.Generation)
	if a.Ready.Reason == ReadyStable && a.Updating.Reason == UpdatingStable && !a.Ready.Remove && !a.Updating.Remove {
		setInteger(next, reconciledGenerationKey, a.Generation)
	}
}

// arrange returns the own conditions in their order, each written over the present entry of its type, followed by the
// other conditions in their order.
func arrange(list []any, own []metav1.Condition, now time.Time) []any {
	result := make([]any, 0, len(list)+len(own))
	for _, c := range own {
		entry := condition.Find(list, c.Type)
		if entry == nil {
			entry = map[string]any{}
		}
		c.Message = clip(c.Message, maxMessageLength)
		c.LastTransitionTime.Time = now
		result = append(result, toDocument(entry, &c))
	}
	places := make(map[string]int, len(list))
	for _, element := range list {
		entry := element.(map[string]any)
		conditionType := condition.Text(entry, condition.Type)
		if slices.Contains(ownTypes[:], conditionType) {
			continue
		}
		if at, twice := places[conditionType]; twice && conditionType != "" {
			result[at] = newer(result[at].(map[string]any), entry)
			continue
		}
		places[conditionType] = len(result)
		result = append(result, entry)
	}
	return result
}

var ownTypes = [...]string{ConditionReady, ConditionUpdating, ConditionReconciling, ConditionStalled}

// newer returns the newer of two entries of one type, the first of two equally new ones.
func newer(first, second map[string]any) map[string]any {
	if index, _ := condition.Newest([]any{first, second}, condition.Text(first, condition.Type)); index == 1 {
		return second
	}
	return first
}

// onlyReady computes the new status for OnlyReady: the condition Ready, and everything that others wrote.
func (a Application) onlyReady(now time.Time, current map[string]any) map[string]any {
	next := cloneMap(current)
	list := mapsOf(condition.ListOf(next))
	var own []metav1.Condition
	if ready, ok := a.resolve(a.bothVerdicts(list).verdict(), list); ok {
		own = append(own, ready)
	}
	next[conditionsKey] = arrange(list, own, now)
	for _, key := range []string{componentStatusKey, observedGenerationKey, reconciledGenerationKey, operatorVersionKey} {
		delete(next, key)
	}
	removeVersions(next)
	a.Values.over(next)
	return next
}

// bothVerdicts combines both verdicts into one for Ready.
//
// Ready reports whether a resource works, and why not. Updating has the more exact cause. For an error that passes by
// itself, only Updating changes. Such an error doesn't matter to a resource that is Ready at its present generation.
func (a Application) bothVerdicts(list []any) ReadyVerdict {
	both := a.Ready
	if both.Remove || a.Updating.Remove || a.Updating.Reason == "" || a.Updating.Reason == UpdatingStable {
		return both
	}
	both.Message = cmp.Or(a.Updating.Message, both.Message)
	if both.Reason != "" {
		return both
	}
	entry := condition.Find(list, ConditionReady)
	generation, _ := condition.Integer(entry[condition.ObservedGeneration])
	switch present := ReadyReason(condition.Text(entry, condition.Reason)); {
	case present == ReadyStable && generation == a.Generation:
		return ReadyVerdict{}
	case present == ReadyInitializing:
		both.Reason = ReadyInitializing
	default:
		both.Reason = ReadyInProgress
	}
	return both
}

// The values of the service status.
const (
	serviceCompleted  = "Completed"
	serviceInProgress = "InProgress"
	serviceFailed     = "Failed"
)

// setService updates the service status of the kind. It keeps any value except these three, because other values belong
// to the service itself.
func (a Application) setService(next map[string]any, ready ReadyReason, updating UpdatingReason) {
	if a.Kind == "" {
		return
	}
	key := serviceKey(a.Kind)
	switch next[key] {
	case nil, serviceCompleted, serviceInProgress, serviceFailed:
		next[key] = serviceStatus(ready, updating)
	}
}

// serviceKey changes only the first letter to lower case: HTTPServer becomes hTTPServerStatus.
func serviceKey(kind string) string {
	first, size := utf8.DecodeRuneInString(kind)
	return string(unicode.ToLower(first)) + kind[size:] + "Status"
}

func serviceStatus(ready ReadyReason, updating UpdatingReason) string {
	switch {
	case ready == "" || updating == "":
		return serviceInProgress
	case ready == ReadyStable && updating == UpdatingStable:
		return serviceCompleted
	case ready == ReadyErrored || ready == ReadyConfigError,
		updating == UpdatingErrored || updating == UpdatingClusterError:
		return serviceFailed
	}
	return serviceInProgress
}

// ReconciledVersion returns versions.reconciled of a status, empty if it is missing or isn't a string.
func ReconciledVersion(status map[string]any) string {
	return condition.Text(condition.Map(status, versionsKey), "reconciled")
}

// setVersions writes the given versions. It replaces a parent value that isn't a map, and warns.
func (a Application) setVersions(next map[string]any) {
	if a.OperatorVersion != "" {
		next[operatorVersionKey] = a.OperatorVersion
	}
	if a.Version == "" && a.SupportedVersions == nil {
		return
	}
	versions := a.section(next, versionsKey, "status.versions")
	if a.Version != "" {
		versions["reconciled"] = a.Version
	}
	if a.SupportedVersions == nil {
		return
	}
	names := make([]any, len(a.SupportedVersions))
	for i, name := range a.SupportedVersions {
		names[i] = map[string]any{"name": name}
	}
	a.section(versions, "available", "status.versions.available")["versions"] = names
}

// removeVersions removes everything that setVersions writes, except operatorVersion.
func removeVersions(next map[string]any) {
	versions := condition.Map(next, versionsKey)
	if versions == nil {
		return
	}
	delete(versions, "reconciled")
	if available := condition.Map(versions, "available"); available != nil {
		if delete(available, "versions"); len(available) == 0 {
			delete(versions, "available")
		}
	}
	if len(versions) == 0 {
		delete(next, versionsKey)
	}
}

// section returns the map at a key. If there is none, it makes one, and warns if it replaces another value.
func (a Application) section(parent map[string]any, key, path string) map[string]any {
	if section := condition.Map(parent, key); section != nil {
		return section
	}
	if present := parent[key]; present != nil {
		a.warn("%s is a %T, not a map: it is replaced", path, present)
	}
	section := map[string]any{}
	parent[key] = section
	return section
}

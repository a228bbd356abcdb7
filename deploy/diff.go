package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Difference describes how an apply would change one object.
type Difference struct {
	// Ref names the object.
	Ref Ref
	// Action is the action that an apply would take.
	Action Action
	// Reason says why an object that wasn't given would be deleted or kept (DiffSet), or that fields of predecessors
	// would be removed (TakeOverFrom). Otherwise it is empty.
	Reason string
	// Changes are the paths that would change. If Changes is empty and the Action still changes the object, only the
	// ownership of fields would change.
	Changes []Change
	// Unified has the changes as a unified diff of YAML. It is empty if there are no changes.
	Unified string
	// After is the object with the Changes, as the cluster would store it. It may have only metadata (PartialView). It is
	// nil if there are no changes, or if the object would be deleted.
	After *unstructured.Unstructured
	// Kept are the fields of the manifest that would be left to other managers, see Result.Kept.
	Kept []FieldConflict
	// Err says why the apply would fail or be skipped, or why its effect isn't known.
	Err error
}

// Differences holds one Difference per object, in the order of the objects.
type Differences []Difference

// Changed reports whether an apply would change anything, ownership of fields included.
func (d Differences) Changed() bool {
	return slices.ContainsFunc(d, func(one Difference) bool { return Result{Action: one.Action}.Changed() })
}

// Err joins the errors of all objects. It returns nil if there are none.
func (d Differences) Err() error {
	var errs []error
	for _, one := range d {
		errs = append(errs, one.Err)
	}
	return errors.Join(errs...)
}

// String returns the unified diffs of all objects.
func (d Differences) String() string {
	var out strings.Builder
	for _, one := range d {
		out.WriteString(one.Unified)
	}
	return out.String()
}

// Diff returns for each object what Apply with the same options would change. It changes nothing. The cluster computes
// the changes by a dry run of the apply, with defaults, admission and fields of other managers. An object that Apply
// would find unchanged costs no call. Every other object costs one call, or two if fields are taken over
// (TakeOverFrom). With a cluster in memory Diff works offline.
//
// Some fields are never shown: the status, managedFields, resourceVersion, generation, uid, creationTimestamp and the
// annotation with the hash. Values of Secrets are shown as digests with their length. If the kind or namespace of an
// object is itself one of objects and doesn't exist yet, a dry run isn't possible. Then the object is shown as a new
// object, without defaults. The error joins the errors of the differences.
func (m *Manager) Diff(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Differences, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	differences, err := m.diff(ctx, s, objects, &liveObjects{})
	if err != nil {
		return differences, err
	}
	return differences, differences.Err()
}

// diff is Diff with prepared settings. It returns an error only if objects are missing from the differences.
func (m *Manager) diff(ctx context.Context, s settings, objects []*unstructured.Unstructured, live *liveObjects) (Differences, error) {
	s.dryRun = true
	live.check, s.inspect = s.inspect, live.inspect
	results, err := m.apply(ctx, s, objects)
	if results == nil && err != nil {
		return nil, err
	}
	set := comparedSet{Manager: m, settings: s, objects: objects}
	differences := make(Differences, len(results))
	for i, result := range results {
		var obj *unstructured.Unstructured
		if len(results) == len(objects) {
			obj = objects[i]
		}
		differences[i] = set.difference(ctx, result, live.latest[result.Ref], obj)
	}
	if len(results) < len(objects) {
		return differences, err
	}
	return differences, nil
}

// liveObjects collects the latest state of each object that was read.
type liveObjects struct {
	// check, if it isn't nil, is also called with each state.
	check func(ref Ref, live *unstructured.Unstructured) error

	mu     sync.Mutex
	latest map[Ref]*unstructured.Unstructured
}

func (l *liveObjects) inspect(ref Ref, live *unstructured.Unstructured) error {
	l.mu.Lock()
	if l.latest == nil {
		l.latest = map[Ref]*unstructured.Unstructured{}
	}
	l.latest[ref] = live
	l.mu.Unlock()
	if l.check == nil {
		return nil
	}
	return l.check(ref, live)
}

// comparedSet is the set of objects of one call of Diff.
type comparedSet struct {
	*Manager
	settings
	objects []*unstructured.Unstructured
}

// difference returns the Difference for the result of a dry run.
func (c comparedSet) difference(ctx context.Context, result Result, live, given *unstructured.Unstructured) Difference {
	d := Difference{Ref: result.Ref, Action: result.Action, Kept: result.Kept, Err: result.Err}
	after := result.Object
	var err error
	switch {
	case result.Action == Unchanged || result.Action == Skipped:
		return d
	case given != nil && c.comesWithTheSet(result):
		d.Action, d.Err = Created, nil
		if after, err = c.asGiven(ctx, given); err != nil {
			d.Action, d.Err = Failed, err
			return d
		}
	case result.Err != nil && (after == nil || live == nil || after.GetResourceVersion() == live.GetResourceVersion()):
		if live != nil && is[*InvalidError](result.Err) && c.hasPredecessor(live) {
			d.Err = fmt.Errorf("%w (an apply first removes the fields that predecessors set and the manifest leaves out: the refusal may be about these)", result.Err)
		}
		return d
	}
	if live != nil && result.Action == Configured && c.hasPredecessor(live) {
		d.Reason = "fields that predecessors set and the manifest leaves out are removed, too"
		if after, err = c.withoutHeritage(ctx, after); err != nil {
			d.Err = errors.Join(d.Err, fmt.Errorf("%s: %s: the diff can't show this: %w", d.Ref, d.Reason, err))
			return d
		}
	}
	if live, err = c.whole(ctx, d, live, after); err == nil {
		err = d.show(c.settings, live, after)
	}
	if len(d.Changes) > 0 {
		d.After = after
	}
	d.Err = errors.Join(d.Err, err)
	return d
}

// asGiven returns the object as it would be sent: given itself, or the object for which given is a stand-in.
func (c comparedSet) asGiven(ctx context.Context, given *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	content, err := c.contentOf(ctx, given, RefOf(given))
	if err != nil {
		return nil, err
	}
	return plainCopy(content, RefOf(given))
}

// comesWithTheSet reports whether a dry run failed because the kind or namespace is itself an object of the set.
func (c comparedSet) comesWithTheSet(result Result) bool {
	if is[*KindUnknownError](result.Err) {
		return slices.ContainsFunc(c.objects, func(obj *unstructured.Unstructured) bool {
			return obj != nil && obj.GroupVersionKind().GroupKind() == definitionKind &&
				slices.Contains(definedKinds(obj), result.Ref.Kind)
		})
	}
	return is[*NotFoundError](result.Err) && slices.ContainsFunc(c.objects, func(obj *unstructured.Unstructured) bool {
		return isNamespace(obj, result.Ref.Namespace)
	})
}

func isNamespace(obj *unstructured.Unstructured, name string) bool {
	return obj != nil && obj.GetKind() == "Namespace" && obj.GetAPIVersion() == "v1" && obj.GetName() == name && name != ""
}

// whole returns live. If the View didn't show the content of the object and it is needed, whole reads the object from
// the cluster.
func (c comparedSet) whole(ctx context.Context, d Difference, live, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	hidden := live == nil && d.Action == Configured
	if !hidden && (live == nil || after == nil || !onlyMetadata(live) || onlyMetadata(after)) {
		return live, nil
	}
	return c.requests(c.settings).getPresent(ctx, d.Ref)
}

func onlyMetadata(obj *unstructured.Unstructured) bool {
	for field := range obj.Object {
		if field != "apiVersion" && field != "kind" && field != "metadata" {
			return false
		}
	}
	return true
}

// show sets Changes and Unified to the changes between two states. Either state may be nil.
func (d *Difference) show(s settings, before, after *unstructured.Unstructured) error {
	from, to := s.shown(before), s.shown(after)
	d.Changes = Changes(from, to)
	if len(d.Changes) == 0 {
		return nil
	}
	old, err := manifestText(from)
	if err != nil {
		return err
	}
	text, err := manifestText(to)
	if err != nil {
		return err
	}
	fromName, toName := d.Ref.String()+" (live)", d.Ref.String()+" (applied)"
	if before == nil {
		fromName = "/dev/null"
	}
	if after == nil {
		toName = "/dev/null"
	}
	d.Unified = unified(fromName, toName, old, text)
	return nil
}

// manifestText returns content as YAML, without the fields that the API server sets. It returns "" for nil, and changes
// content.
func manifestText(content map[string]any) (string, error) {
	if content == nil {
		return "", nil
	}
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range movingFields {
		delete(metadata, field)
	}
	text, err := yaml.Marshal(content)
	return string(text), err
}

// changes returns the changes between two states of an object in the fields that an intent may have. Values of Secrets
// are shown as digests.
func (s settings) changes(before, after *unstructured.Unstructured) []Change {
	return Changes(s.shown(before), s.shown(after))
}

// shown returns a copy of obj without its status and the annotation with our hash, and with digests as the values of a
// Secret. It returns nil for nil.
func (s settings) shown(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	content := obj.DeepCopy().Object
	delete(content, "status")
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, s.hashKey())
	if isEmptyMap(metadata["annotations"]) {
		delete(metadata, "annotations")
	}
	if kind := kindOf(obj); kind.Group == "" && kind.Kind == "Secret" {
		redact(content)
	}
	return content
}

// DiffDelete returns for each object what Delete with the same options would do. It changes nothing: it sends each
// deletion as a dry run. A deletion shows all content that would be removed, except for the fields that Diff leaves out
// or redacts. The error joins the errors of the differences.
func (m *Manager) DiffDelete(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Differences, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	s.dryRun = true
	results, err := m.Delete(ctx, objects, append(slices.Clone(options), DryRun())...)
	if results == nil {
		return nil, err
	}
	differences := make(Differences, len(results))
	for i, result := range results {
		d := Difference{Ref: result.Ref, Action: result.Action, Err: result.Err}
		if d.Action == Removed {
			live := result.Object
			if onlyMetadata(live) {
				live, d.Err = m.requests(s).getPresent(ctx, d.Ref)
			}
			if d.Err == nil {
				d.Err = d.show(s, live, nil)
			}
		}
		differences[i] = d
	}
	return differences, differences.Err()
}

// DiffSet is Diff for an ApplySet. It returns a Difference for each object, followed by a Difference for each member
// that isn't among the objects. The Reason says why the member would be deleted or kept. Members that would be deleted
// are shown as deletions. If an object couldn't be applied, the differences lack the members, because ApplySet would
// prune none. DiffSet costs the calls of Diff, a read of the parent and the lists of members.
func (m *Manager) DiffSet(ctx context.Context, set ApplySet, objects []*unstructured.Unstructured, options ...Option) (Differences, error) {
	r, err := m.newSetRun(ctx, set, objects, options)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	live := &liveObjects{}
	differences, err := m.diff(ctx, r.settings, r.objects, live)
	if err = errors.Join(err, differences.Err()); err != nil || r.parent == nil {
		return differences, err
	}
	kept := kept{}
	for _, obj := range live.latest {
		kept.add(obj)
	}
	for i, obj := range r.objects {
		if obj.GetName() == "" {
			live, err := r.existing(ctx, differences[i].Ref, obj)
			if err != nil {
				return differences, err
			}
			kept.add(live)
		}
	}
	found, err := r.candidates(ctx, kept)
	if err != nil {
		return differences, err
	}
	for _, member := range found {
		d := Difference{Ref: member.Ref, Action: member.Action, Reason: member.Reason, Err: member.Err}
		if d.Action == Removed {
			d.Err = d.show(r.settings, member.Object, nil)
		}
		differences = append(differences, d)
	}
	return differences, differences.Err()
}

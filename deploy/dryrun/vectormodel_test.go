package dryrun_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// vectorModel says of each operation what the specification has it do, without a cluster, and
// keeps the rules by which that isn't what oper8 does.
type vectorModel struct {
	c             *vectorCase
	kinds         []schema.GroupVersionKind
	clusterScoped []schema.GroupKind
	objects       map[vectorKey]*vectorObject
	versions      map[schema.GroupVersionKind]bool
	saved         map[string][]map[string]any
	deployed      map[string]bool
	tokens        map[string]string
	watches       []vectorOp
	events        vectorEvents
	rules         []string
	uids          int
}

type vectorKey struct {
	kind            schema.GroupKind
	namespace, name string
}

// vectorObject is an object: what was deployed, what was there before, what set_status said.
type vectorObject struct {
	intent, foreign map[string]any
	status          map[string]any
	uid             string
	deleting        bool
}

func (o *vectorObject) content() map[string]any { return tidyIntent(deepMerged(o.foreign, o.intent)) }

func (o *vectorObject) finalizers() []any {
	metadata, _ := o.content()["metadata"].(map[string]any)
	list, _ := metadata["finalizers"].([]any)
	return list
}

func newVectorModel(c *vectorCase) *vectorModel {
	m := &vectorModel{
		c: c, objects: map[vectorKey]*vectorObject{}, versions: map[schema.GroupVersionKind]bool{},
		saved: map[string][]map[string]any{}, deployed: map[string]bool{}, tokens: map[string]string{},
	}
	m.kinds, m.clusterScoped = vectorKinds(c)
	for _, content := range c.Input.Init.Resources {
		content = runtime.DeepCopyJSON(content)
		obj := unstructured.Unstructured{Object: content}
		status, _ := content["status"].(map[string]any)
		key := keyOf(obj)
		m.objects[key] = &vectorObject{foreign: tidyIntent(content), intent: map[string]any{}, status: status, uid: m.newUID()}
		m.versions[obj.GroupVersionKind()] = true
	}
	if generate := c.Input.Init.GenerateVersion; generate != nil && !*generate {
		m.because("deploy W18")
	}
	return m
}

func keyOf(obj unstructured.Unstructured) vectorKey {
	return vectorKey{obj.GroupVersionKind().GroupKind(), obj.GetNamespace(), obj.GetName()}
}

func (m *vectorModel) newUID() string {
	m.uids++
	return "uid-" + string(rune('a'+m.uids))
}

func (m *vectorModel) because(rule string) {
	if !slices.Contains(m.rules, rule) {
		m.rules = append(m.rules, rule)
	}
}

func (m *vectorModel) do(op vectorOp) any {
	switch op.Op {
	case "deploy":
		return m.each(op, m.deploy)
	case "disable":
		return m.each(op, m.disable)
	case "set_status":
		return m.setStatus(op)
	case "get":
		return m.get(op)
	case "filter":
		return m.filter(op)
	case "mutate_ref":
		// What somebody does to his own object is nothing to the cluster.
		m.because("deploy W11")
		for _, object := range m.saved[op.Ref] {
			object["data"] = op.Data
		}
	case "watch", "finalizer":
		m.watches = append(m.watches, op)
	case "events":
		return m.events.take()
	}
	return nil
}

func (m *vectorModel) each(op vectorOp, do func(vectorOp, map[string]any) (changed, ok bool)) any {
	anything := false
	for _, content := range m.remembered(op) {
		changed, ok := do(op, runtime.DeepCopyJSON(content))
		if !ok {
			return failedResult
		}
		anything = anything || changed
	}
	return []any{true, anything}
}

// remembered is objects on copies, since the run changes those of the case.
func (m *vectorModel) remembered(op vectorOp) []map[string]any {
	copied := op
	copied.Objects = nil
	for _, content := range op.Objects {
		copied.Objects = append(copied.Objects, runtime.DeepCopyJSON(content))
	}
	return copied.objects(m.saved)
}

func (m *vectorModel) deploy(op vectorOp, content map[string]any) (changed, ok bool) {
	obj := unstructured.Unstructured{Object: content}
	managed := m.c.Input.Init.Owner != nil && op.managesOwners()
	if !m.acceptable(obj, managed) {
		return false, false
	}
	key := keyOf(obj)
	live := m.objects[key]
	if live != nil {
		m.because("deploy W16")
		if live.deleting {
			m.because("deploy W20")
			if managed {
				return false, false
			}
		} else if obj.GetDeletionTimestamp() != nil && !managed {
			return false, false
		}
		if !m.versions[obj.GroupVersionKind()] {
			m.because("deploy 29")
		}
	}
	if content["status"] != nil {
		m.because("deploy W19")
	}
	intent := m.intended(op, obj, live, managed)
	m.versions[obj.GroupVersionKind()] = true
	if live == nil {
		m.objects[key] = &vectorObject{intent: intent, foreign: map[string]any{}, uid: m.newUID()}
		m.happens(key, "w")
		return true, true
	}
	before := live.content()
	if len(live.foreign) > 0 {
		m.because("deploy W19")
	}
	live.intent = intent
	live.foreign = shared(live.foreign, intent)
	after := live.content()
	if !owns(after) {
		// Who owns no field leaves no trace of the version that he wrote in.
		after["apiVersion"] = before["apiVersion"]
	}
	if reflect.DeepEqual(before, after) {
		m.because("deploy W17")
		return false, true
	}
	m.happens(key, "w")
	if live.deleting && len(live.finalizers()) == 0 {
		delete(m.objects, key)
	}
	return true, true
}

// owns tells whether there is anything to own in an object.
func owns(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	return slices.ContainsFunc(slices.Collect(maps.Keys(content)), func(name string) bool {
		return name != "apiVersion" && name != "kind" && name != "metadata"
	}) || slices.ContainsFunc(slices.Collect(maps.Keys(metadata)), func(name string) bool { return name != "name" && name != "namespace" })
}

// acceptable tells whether a manifest can be deployed at all.
func (m *vectorModel) acceptable(obj unstructured.Unstructured, managed bool) bool {
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" || obj.GetName() == "" {
		m.because("deploy 7")
		return false
	}
	if obj.GetNamespace() == "" && !slices.Contains(m.clusterScoped, obj.GroupVersionKind().GroupKind()) {
		m.because("deploy W1")
		return false
	}
	if obj.GetDeletionTimestamp() != nil {
		m.because("deploy W20")
	}
	if managed {
		m.because("deploy W12")
	}
	references, _, _ := unstructured.NestedSlice(obj.Object, "metadata", "ownerReferences")
	for _, item := range references {
		reference, _ := item.(map[string]any)
		for _, field := range []string{"apiVersion", "kind", "name", "uid"} {
			if text, _ := reference[field].(string); text == "" {
				m.because("deploy W12")
				return false
			}
		}
	}
	if !managed && (obj.GetResourceVersion() != "" || obj.GetUID() != "") {
		m.because("deploy W18")
		return false
	}
	return true
}

// intended is what an object is to be, by its manifest, the method and the owner.
func (m *vectorModel) intended(op vectorOp, obj unstructured.Unstructured, live *vectorObject, managed bool) map[string]any {
	intent := tidyIntent(obj.Object)
	if op.Method == "update" && live != nil && !managed {
		intent = tidyIntent(deepMerged(live.content(), intent))
	}
	if !managed {
		return intent
	}
	intent = withoutNulls(intent).(map[string]any)
	owner := unstructured.Unstructured{Object: m.c.Input.Init.Owner}
	if keyOf(owner) == keyOf(obj) {
		m.because("deploy W21")
		return intent
	}
	if owner.GetNamespace() != "" && owner.GetNamespace() != obj.GetNamespace() {
		return intent
	}
	metadata := intent["metadata"].(map[string]any)
	references, _ := metadata["ownerReferences"].([]any)
	for _, item := range references {
		if item.(map[string]any)["uid"] == string(owner.GetUID()) {
			return intent
		}
	}
	metadata["ownerReferences"] = append(references, map[string]any{
		"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID()), "blockOwnerDeletion": true,
	})
	return intent
}

func (m *vectorModel) disable(_ vectorOp, content map[string]any) (changed, ok bool) {
	obj := unstructured.Unstructured{Object: content}
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" || obj.GetName() == "" {
		m.because("deploy 7")
		return false, false
	}
	key := keyOf(obj)
	live := m.objects[key]
	if live == nil || !m.visible(obj.GroupVersionKind()) {
		return false, true
	}
	m.because("deploy W20")
	if live.deleting {
		return false, true
	}
	m.happens(key, "w")
	m.happens(key, "f")
	if len(live.finalizers()) > 0 {
		live.deleting = true
	} else {
		delete(m.objects, key)
	}
	return true, true
}

func (m *vectorModel) setStatus(op vectorOp) any {
	kind, ok := m.find(op)
	if !ok {
		return failedResult
	}
	m.because("deploy W16")
	key := vectorKey{kind.GroupKind(), op.Namespace, op.Name}
	live := m.objects[key]
	if reflect.DeepEqual(live.status, op.Status) || len(live.status)+len(op.Status) == 0 {
		return []any{true, false}
	}
	live.status = op.Status
	m.because("deploy W19")
	m.happens(key, "w")
	return []any{true, true}
}

// visible tells whether a version is there: one comes with the first object that has it.
func (m *vectorModel) visible(kind schema.GroupVersionKind) bool { return m.versions[kind] }

func (m *vectorModel) find(op vectorOp) (schema.GroupVersionKind, bool) {
	var found []schema.GroupVersionKind
	for _, kind := range m.called(op) {
		if m.objects[vectorKey{kind.GroupKind(), op.Namespace, op.Name}] != nil && m.visible(kind) {
			found = append(found, kind)
		}
	}
	if len(found) != 1 {
		return schema.GroupVersionKind{}, false
	}
	return found[0], true
}

func (m *vectorModel) called(op vectorOp) []schema.GroupVersionKind {
	if op.Kind == "" {
		return nil
	}
	if op.APIVersion != "" {
		return []schema.GroupVersionKind{schema.FromAPIVersionAndKind(op.APIVersion, op.Kind)}
	}
	return slices.DeleteFunc(slices.Clone(m.kinds), func(kind schema.GroupVersionKind) bool { return kind.Kind != op.Kind })
}

func (m *vectorModel) get(op vectorOp) any {
	kind, ok := m.find(op)
	if !ok {
		return nil
	}
	live := m.objects[vectorKey{kind.GroupKind(), op.Namespace, op.Name}]
	out := live.content()
	out["apiVersion"] = kind.GroupVersion().String()
	if len(live.status) > 0 {
		out["status"] = live.status
	}
	metadata := out["metadata"].(map[string]any)
	metadata["uid"], metadata["creationTimestamp"], metadata["resourceVersion"] = token(m.tokens, live.uid), "<NOW>", "<RV>"
	if live.deleting {
		metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"] = "<NOW>", 0
	}
	return tidyObject(out)
}

// loose finds what oper8's own parser of selectors takes for something else.
var loose = regexp.MustCompile(`\(\s|[^ ]\(|,\s|\s\)|[<>]|,$|(?i)true|false`)

func (m *vectorModel) filter(op vectorOp) any {
	if loose.MatchString(op.LabelSelector) || loose.MatchString(op.FieldSelector) {
		m.because("deploy W22")
	}
	byLabel, err := labels.Parse(op.LabelSelector)
	byField, err2 := fields.ParseSelector(op.FieldSelector)
	if err != nil || err2 != nil {
		m.because("deploy W22")
		return failedResult
	}
	if op.Namespace == "" {
		m.because("deploy W21")
	}
	names := map[string]bool{}
	for _, kind := range m.called(op) {
		for key, live := range m.objects {
			content := live.content()
			obj := &unstructured.Unstructured{Object: content}
			if key.kind == kind.GroupKind() && m.visible(kind) && (op.Namespace == "" || op.Namespace == key.namespace) &&
				byLabel.Matches(labels.Set(obj.GetLabels())) && byField.Matches(leaves(content)) {
				names[key.name] = true
			}
		}
	}
	result := []any{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		result = append(result, name)
	}
	return result
}

// happens tells those that registered.
func (m *vectorModel) happens(key vectorKey, mark string) {
	for _, op := range m.watches {
		kind := schema.FromAPIVersionAndKind(op.APIVersion, op.Kind)
		if (op.Op == "finalizer") == (mark == "f") && kind.GroupKind() == key.kind && m.visible(kind) && registered(op, key.namespace, key.name) {
			m.events.add(mark, key.name)
		}
	}
}

// leaves are the values of an object by dotted path.
func leaves(content map[string]any) fields.Set {
	found := fields.Set{}
	var walk func(value any, at string)
	walk = func(value any, at string) {
		if below, ok := value.(map[string]any); ok {
			for name, item := range below {
				walk(item, strings.TrimPrefix(at+"."+name, "."))
			}
			return
		}
		if value != nil {
			found[at] = fmt.Sprint(value)
		}
	}
	walk(content, "")
	return found
}

// shared is what of before an intent leaves: what it says otherwise is no longer anybody else's.
func shared(before, intent map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range before {
		other, both := intent[name]
		below, isMap := value.(map[string]any)
		otherBelow, isMapToo := other.(map[string]any)
		switch {
		case !both, reflect.DeepEqual(value, other):
			out[name] = value
		case isMap && isMapToo:
			out[name] = shared(below, otherBelow)
		}
	}
	return out
}

// tidyIntent is an object without what is the server's and what is empty in its metadata.
func tidyIntent(content map[string]any) map[string]any {
	out := intentOf(content)
	if metadata, ok := out["metadata"].(map[string]any); ok {
		for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
			if value := reflect.ValueOf(metadata[name]); !value.IsValid() || (value.Kind() == reflect.Map || value.Kind() == reflect.Slice) && value.Len() == 0 {
				delete(metadata, name)
			}
		}
	}
	return out
}

func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, item := range value {
			if item != nil {
				out[name] = withoutNulls(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = withoutNulls(item)
		}
		return out
	}
	return value
}

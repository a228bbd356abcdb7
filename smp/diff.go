package smp

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// Diff makes the strategic merge patch that turns before into after: with the same schema, [Strategic] returns a
// document that equals after, with the same order of lists. If before and after are equal, the patch is empty.
//
// If merging can't express a difference, such as a new null, the patch replaces the nearest map or list around it
// ($patch: replace). Without a known schema, maps merge and lists are replaced. If before and after are different
// objects, [Strategic] needs [AllowIdentityChange]. The mode [Oper8] is an error.
//
// Neither document is changed; the patch shares nothing with them unless [Shared] is given. Errors are [*PatchError]:
// [UnknownField] for a map or list in a field that the kind doesn't have, [Invalid] for a document that has a directive
// as a key.
func Diff(before, after map[string]any, schema Schema, opts ...Option) (map[string]any, error) {
	return call(before, opts, func(o options) (map[string]any, error) { return diff(before, after, schema, o) })
}

func diff(before, after map[string]any, s Schema, o options) (map[string]any, error) {
	if err := o.kubernetesOnly(); err != nil {
		return nil, err
	}
	if err := s.checkKind(before); err != nil {
		return nil, err
	}
	d := differ{mergers.Get().(*merger)}
	defer d.retire()
	d.options, d.noSchema = o, !s.Known()
	var root *schema.Type
	if s.Known() {
		root = s.place.Type
	}
	patch, ok, err := d.maps(before, after, root, false)
	if err != nil {
		// Visit keys in order, so that the same error is always returned.
		d.sorted, d.path, d.borrowed = true, d.path[:0], 0
		_, _, err = d.maps(before, after, root, false)
	}
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return d.replacement(after)
	case patch == nil:
		return map[string]any{}, nil
	default:
		return patch, nil
	}
}

// differ makes one patch. If merging can't express a difference, its methods return false for ok. Then the caller has
// to replace the map or list around that difference.
type differ struct{ *merger }

// patchMap is a map of a patch, made when the first entry is put into it.
type patchMap struct {
	fields map[string]any
	// stayed counts the fields that are in both documents.
	stayed int
	// incomplete is set if merging can't express the whole difference.
	incomplete bool
}

func (p *patchMap) set(key string, value any) {
	if p.fields == nil {
		p.fields = map[string]any{}
	}
	p.fields[key] = value
}

// maps makes the patch between two maps, nil when they are equal. If retain is true, the patch has a $retainKeys that
// lists the fields that stay.
func (d *differ) maps(before, after map[string]any, t *schema.Type, retain bool) (patch map[string]any, ok bool, err error) {
	if err := d.tooDeep(); err != nil {
		return nil, false, err
	}
	var out patchMap
	err = d.each(after, func(key string, value any) error { return d.field(&out, key, before, value, t) })
	if err != nil {
		return nil, false, err
	}
	if out.stayed < len(before) {
		if err := d.removed(&out, before, after); err != nil {
			return nil, false, err
		}
	}
	if retain && out.fields != nil {
		keys := make([]any, 0, len(after))
		for _, key := range slices.Sorted(maps.Keys(after)) {
			keys = append(keys, key)
		}
		out.set(retainKeysDirective, keys)
	}
	if out.incomplete {
		return nil, false, nil
	}
	return out.fields, true, nil
}

// field puts the difference of a field into patch.
func (d *differ) field(patch *patchMap, key string, before map[string]any, value any, t *schema.Type) error {
	old, exists := before[key]
	if exists {
		patch.stayed++
		if document.SameScalar(old, value) {
			return nil
		}
	}
	d.enter(key)
	said, err := d.changed(patch, key, old, value, exists, t)
	if err != nil {
		return err
	}
	d.leave()
	patch.incomplete = patch.incomplete || !said
	return nil
}

// removed puts the deletion of removed fields into patch.
func (d *differ) removed(patch *patchMap, before, after map[string]any) error {
	return d.each(before, func(key string, _ any) error {
		if _, stays := after[key]; stays {
			return nil
		}
		if isDirective(key) {
			d.enter(key)
			return d.fail(Invalid, "a document can't hold a directive of patches: remove it")
		}
		patch.set(key, nil)
		return nil
	})
}

// changed puts the value of a field into patch, unless it is the same as before.
func (d *differ) changed(patch *patchMap, key string, old, value any, exists bool, t *schema.Type) (bool, error) {
	switch value := value.(type) {
	case map[string]any:
		if oldMap, both := old.(map[string]any); both {
			return d.mapField(patch, key, oldMap, value, t)
		}
	case []any:
		if oldList, both := old.([]any); both {
			return d.listField(patch, key, oldList, value, t)
		}
	default:
		if exists && document.Equal(old, value) {
			return true, nil
		}
	}
	if isDirective(key) {
		return false, d.fail(Invalid, "a document can't hold a directive of patches: remove it")
	}
	if value == nil {
		return false, nil
	}
	taken, ok, err := d.copied(value)
	patch.set(key, taken)
	return ok, err
}

func (d *differ) mapField(patch *patchMap, key string, old, value map[string]any, t *schema.Type) (bool, error) {
	place, known := t.Field(key)
	merges := known && mergesAsMap(place.Type)
	if !merges || place.Strategy&schema.Replace != 0 {
		if document.Equal(old, value) {
			return true, nil
		}
		if !merges {
			return false, d.unknownField(t)
		}
		taken, ok, err := d.copied(value)
		patch.set(key, taken)
		return ok, err
	}
	sub, ok, err := d.maps(old, value, place.Type, place.Strategy&schema.RetainKeys != 0)
	if err != nil {
		return false, err
	}
	if !ok {
		if sub, err = d.replacement(value); err != nil {
			return false, err
		}
	}
	if len(sub) > 0 {
		patch.set(key, sub)
	}
	return true, nil
}

// listField puts the difference of a list into patch.
func (d *differ) listField(patch *patchMap, key string, old, value []any, t *schema.Type) (bool, error) {
	place, known := t.Field(key)
	if known && d.mergesAsList(place.Type) && place.Strategy&schema.Merge != 0 && len(place.Keys) > 0 {
		return d.objects(patch, key, old, value, place)
	}
	switch {
	case document.Equal(old, value):
		return true, nil
	case !known || !d.mergesAsList(place.Type):
		return false, d.unknownField(t)
	case place.Strategy&schema.Merge != 0:
		return d.scalars(patch, key, old, value)
	default:
		taken, ok, err := d.copied(value)
		patch.set(key, taken)
		return ok, err
	}
}

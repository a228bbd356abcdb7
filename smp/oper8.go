package smp

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/smp/internal/schema"
)

// oper8Keys is oper8's table of merge keys, with its misspelt CronJob corrected.
var oper8Keys = sync.OnceValue(func() map[string]string {
	table := map[string]string{
		"Service.spec.ports":                      "port",
		"ServiceAccount.secrets":                  "name",
		"ValidatingWebhookConfiguration.webhooks": "name",
		"MutatingWebhookConfiguration.webhooks":   "name",
	}
	for _, pod := range []string{
		"Pod.spec", "Deployment.spec.template.spec", "DaemonSet.spec.template.spec", "StatefulSet.spec.template.spec",
		"Job.spec.template.spec", "CronJob.spec.jobTemplate.spec.template.spec",
	} {
		for _, list := range []string{"volumes", "imagePullSecrets"} {
			table[pod+"."+list] = "name"
		}
		for _, containers := range []string{"containers", "initContainers", "ephemeralContainers"} {
			at := pod + "." + containers
			table[at] = "name"
			table[at+".env"] = "name"
			table[at+".ports"] = "containerPort"
			table[at+".volumeMounts"] = "mountPath"
			table[at+".volumeDevices"] = "devicePath"
		}
	}
	return table
})

// oper8Types are the types of the kinds in oper8's own table.
var oper8Types = sync.OnceValue(func() map[string]*schema.Type {
	types := map[string]*schema.Type{}
	for position := range oper8Keys() {
		kind, _, _ := strings.Cut(position, ".")
		if types[kind] == nil {
			types[kind] = typeOfPositions(kind, oper8Keys())
		}
	}
	return types
})

// oper8Type returns the type by which a kind's fields merge. It is made from table, or from oper8's own table if table
// is nil.
func oper8Type(kind string, table map[string]string) *schema.Type {
	if table != nil {
		return typeOfPositions(kind, table)
	}
	if t, known := oper8Types()[kind]; known {
		return t
	}
	return openObject()
}

func typeOfPositions(kind string, table map[string]string) *schema.Type {
	root := openObject()
	// Sorted, so that a list comes before the lists in its elements.
	for _, position := range slices.Sorted(maps.Keys(table)) {
		fields, found := strings.CutPrefix(position, kind+".")
		if !found {
			continue
		}
		at, names := root, strings.Split(fields, ".")
		for _, name := range names[:len(names)-1] {
			place, known := at.Fields[name]
			if !known {
				place = schema.Place{Type: openObject()}
				at.Fields[name] = place
			}
			if at = place.Type; at.Shape == schema.List {
				at = at.Values.Type
			}
		}
		at.Fields[names[len(names)-1]] = schema.Place{
			Type:     &schema.Type{Shape: schema.List, Values: schema.Place{Type: openObject()}},
			Strategy: schema.Merge,
			Keys:     []schema.Key{{Name: table[position]}},
		}
	}
	return root
}

func openObject() *schema.Type {
	return &schema.Type{Shape: schema.Object, Open: true, Fields: map[string]schema.Place{}}
}

// mergeInPlace merges a list of objects as oper8 does: $patch: replace replaces only the element that it stands in,
// $patch: merge is allowed, and elements keep the document's order, with new ones at the end.
func (m *merger) mergeInPlace(l *arrangement, live []any, place schema.Place) error {
	if err := m.keepObjects(l, live, place); err != nil {
		return err
	}
	var merging []element
	for _, e := range l.plain {
		at := l.known.find(e.id)
		if at < 0 || e.object[patchDirective] != replaceValue {
			merging = append(merging, e)
			continue
		}
		taken, err := m.takeElement(e, keepNulls)
		if err != nil {
			return err
		}
		l.entries[at].value = taken
	}
	all := l.plain
	l.plain = merging
	err := m.applyObjects(l, place)
	l.plain = all
	return err
}

// withoutMark returns an element without its $patch, which has been read before.
func withoutMark(object map[string]any) map[string]any {
	if _, marked := object[patchDirective]; !marked {
		return object
	}
	object = maps.Clone(object)
	delete(object, patchDirective)
	return object
}

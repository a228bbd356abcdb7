package podhash_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func keyRef(field, name, key string, optional ...any) fields {
	ref := fields{"name": name, "key": key}
	if len(optional) > 0 {
		ref["optional"] = optional[0]
	}
	return fields{"name": "V", "valueFrom": fields{field: ref}}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	env := func(variables ...any) fields { return fields{"name": "c", "env": variables} }
	one := list{fields{"key": "k", "path": "p"}}
	for reason, row := range map[string]struct {
		spec fields
		want []podhash.Reference
	}{
		"podhash 1: a variable from a Secret": {fields{"containers": list{env(keyRef("secretKeyRef", "a", "k"))}},
			[]podhash.Reference{{Kind: "Secret", Name: "a", Keys: []string{"k"}}}},
		"podhash 1: a variable from a ConfigMap, in an init container": {fields{"initContainers": list{env(keyRef("configMapKeyRef", "a", "k"))}},
			[]podhash.Reference{{Kind: "ConfigMap", Name: "a", Keys: []string{"k"}}}},
		"podhash 1: an ephemeral container": {fields{"ephemeralContainers": list{env(keyRef("secretKeyRef", "a", "k"))}},
			[]podhash.Reference{{Kind: "Secret", Name: "a", Keys: []string{"k"}}}},
		"podhash 1: envFrom": {fields{"containers": list{fields{"envFrom": list{fields{"secretRef": fields{"name": "a"}}, fields{"configMapRef": fields{"name": "b"}}}}}},
			[]podhash.Reference{{Kind: "ConfigMap", Name: "b"}, {Kind: "Secret", Name: "a"}}},
		"podhash 1: volumes": {fields{"volumes": list{fields{"secret": fields{"secretName": "a"}}, fields{"configMap": fields{"name": "b"}}}},
			[]podhash.Reference{{Kind: "ConfigMap", Name: "b"}, {Kind: "Secret", Name: "a"}}},
		"podhash 1: a projected volume": {fields{"volumes": list{fields{"projected": fields{"sources": list{
			fields{"secret": fields{"name": "a"}}, fields{"configMap": fields{"name": "b", "optional": true}}, fields{"serviceAccountToken": fields{"path": "t"}}}}}}},
			[]podhash.Reference{{Kind: "ConfigMap", Name: "b", Optional: true}, {Kind: "Secret", Name: "a"}}},
		"podhash 1: the Secret of a CSI volume": {fields{"volumes": list{fields{"csi": fields{"driver": "d", "nodePublishSecretRef": fields{"name": "a"}}}}},
			[]podhash.Reference{{Kind: "Secret", Name: "a"}}},
		"podhash 1: image pull secrets don't count": {fields{"imagePullSecrets": list{fields{"name": "a"}}}, nil},
		"podhash 3: a volume with items has only their keys": {fields{"volumes": list{fields{"secret": fields{"secretName": "a", "items": one}}}},
			[]podhash.Reference{{Kind: "Secret", Name: "a", Keys: []string{"k"}}}},
		"podhash 3: keys add up": {fields{"containers": list{env(keyRef("secretKeyRef", "a", "z"), keyRef("secretKeyRef", "a", "k")), env(keyRef("secretKeyRef", "a", "z"))}},
			[]podhash.Reference{{Kind: "Secret", Name: "a", Keys: []string{"k", "z"}}}},
		"podhash 3: all keys are more than one": {fields{"containers": list{env(keyRef("secretKeyRef", "a", "k"))}, "volumes": list{fields{"secret": fields{"secretName": "a"}}}},
			[]podhash.Reference{{Kind: "Secret", Name: "a"}}},
		"podhash 8: optional everywhere": {fields{"containers": list{env(keyRef("secretKeyRef", "a", "k", true), keyRef("secretKeyRef", "a", "k", true))}},
			[]podhash.Reference{{Kind: "Secret", Name: "a", Keys: []string{"k"}, Optional: true}}},
		"podhash 8: required once is required": {fields{"containers": list{env(keyRef("secretKeyRef", "a", "k", true), keyRef("secretKeyRef", "a", "k"))}},
			[]podhash.Reference{{Kind: "Secret", Name: "a", Keys: []string{"k"}}}},
		"podhash 18: null entries": {fields{"containers": list{nil, fields{"env": list{nil, fields{"valueFrom": nil}, fields{"valueFrom": fields{"secretKeyRef": nil}}}, "envFrom": list{nil, fields{"secretRef": nil}}}},
			"initContainers": nil, "volumes": list{nil, fields{"secret": nil}, fields{"projected": fields{"sources": list{nil}}}, fields{"csi": nil}}}, nil},
		"podhash 18: values of another form": {fields{"containers": "c", "volumes": fields{"secret": int64(1)}, "initContainers": list{"c", list{}, int64(1)}}, nil},
		"podhash 18: names of another form":  {fields{"volumes": list{fields{"secret": fields{"secretName": int64(1)}}, fields{"configMap": fields{"name": ""}}}}, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			workload := deployment(row.spec)
			before := workload.DeepCopy()
			assert.Equal(t, row.want, podhash.References(workload))
			assert.Equal(t, before, workload)
		})
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	spec := fields{"volumes": list{fields{"secret": fields{"secretName": "a"}}}}
	template := fields{"template": fields{"spec": spec}}
	for _, row := range []struct {
		apiVersion, kind string
		spec             fields
		want             bool
	}{
		{"v1", "Pod", spec, true},
		{"v1", "ReplicationController", template, true},
		{"apps/v1", "Deployment", template, true},
		{"apps/v1", "ReplicaSet", template, true},
		{"apps/v1", "StatefulSet", template, true},
		{"apps/v1", "DaemonSet", template, true},
		{"batch/v1", "Job", template, true},
		{"batch/v1", "CronJob", fields{"jobTemplate": fields{"spec": template}}, true},
		{"example.dev/v1", "Deployment", template, false},
		{"v1", "Service", template, false},
	} {
		t.Run(fmt.Sprintf("podhash 2: %s %s is a kind with Pods: %t", row.apiVersion, row.kind, row.want), func(t *testing.T) {
			t.Parallel()
			workload := object(row.apiVersion, row.kind, "web", fields{"spec": row.spec})
			before := workload.DeepCopy()
			annotated, _, err := podhash.New().Annotate(t.Context(), workload, "shop", reading(secret("a", map[string]string{"k": "v"})))
			require.NoError(t, err)
			assert.Equal(t, before, workload, "the object isn't changed")
			if !row.want {
				assert.Same(t, workload, annotated)
				return
			}
			assert.Len(t, templateAnnotation(annotated, hashKey), 64)
			assert.Len(t, podhash.References(workload), 1)
		})
	}
}

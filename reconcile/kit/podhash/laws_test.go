package podhash_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// The order of references and of keys doesn't count, and every value does.
func TestOrder(t *testing.T) {
	t.Parallel()
	t.Run("podhash 5: the order of references doesn't count, each value does", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(200) {
			random := rand.New(rand.NewPCG(seed, 1))
			var refs, containers list
			var objects []*unstructured.Unstructured
			for _, name := range []string{"a", "b", "c", "d"}[:1+random.IntN(4)] {
				values := map[string]string{"k": string(rune('a' + random.IntN(26))), "l": "x"}
				objects = append(objects, secret(name, values))
				switch random.IntN(3) {
				case 0:
					refs = append(refs, fields{"secret": fields{"secretName": name}})
				case 1:
					refs = append(refs, fields{"projected": fields{"sources": list{fields{"secret": fields{"name": name}}}}})
				default:
					containers = append(containers, fields{"env": list{keyRef("secretKeyRef", name, "k"), keyRef("secretKeyRef", name, "l")}})
				}
			}
			workload := func() *unstructured.Unstructured {
				random.Shuffle(len(refs), func(i, j int) { refs[i], refs[j] = refs[j], refs[i] })
				random.Shuffle(len(containers), func(i, j int) { containers[i], containers[j] = containers[j], containers[i] })
				return deployment(fields{"volumes": append(list{}, refs...), "containers": append(list{}, containers...)})
			}
			hash := hashOf(t, podhash.New(), workload(), objects...)
			assert.Equal(t, hash, hashOf(t, podhash.New(), workload(), objects...))
			changed := random.IntN(len(objects))
			objects[changed] = secret(objects[changed].GetName(), map[string]string{"k": "changed", "l": "x"})
			assert.NotEqual(t, hash, hashOf(t, podhash.New(), workload(), objects...))
		}
	})
}

// Whatever a template has, there is no panic, nothing is changed, and the hash doesn't change what is found.
func FuzzAnnotate(f *testing.F) {
	for _, spec := range []string{
		`{"volumes":[{"secret":{"secretName":"a"}},null,{"projected":{"sources":[{"configMap":{"name":"b"}},null]}}]}`,
		`{"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"a","key":"k"}}}],"envFrom":[{"secretRef":{"name":"a"}}]}]}`,
		`{"volumes":null,"containers":{"env":1},"initContainers":[[]]}`, `null`, `[]`, `"x"`,
	} {
		f.Add(spec, `{"k":"dg==","n":1.5,"m":{"b":[null,true,"\u0001\ud83d\ude00"]}}`, "Deployment")
	}
	f.Fuzz(func(t *testing.T, spec, data, kind string) {
		var parsed, values any
		if utiljson.Unmarshal([]byte(spec), &parsed) != nil || utiljson.Unmarshal([]byte(data), &values) != nil {
			return
		}
		version := map[string]string{"Pod": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}[kind]
		if version == "" {
			version = "apps/v1"
		}
		workload := object(version, kind, "web", fields{"spec": fields{"template": fields{"spec": parsed}, "volumes": parsed}})
		before, err := json.Marshal(workload.Object)
		if err != nil {
			return
		}
		objects := reading(object("v1", "Secret", "a", fields{"data": values}), object("v1", "ConfigMap", "b", fields{"data": values}))
		for _, h := range []*podhash.Hasher{podhash.New(), podhash.New(podhash.Reloads(nil)), podhash.New(podhash.Oper8())} {
			annotated, _, err := h.Annotate(t.Context(), workload, "shop", objects)
			assert.NoError(t, err)
			again, _, err := h.Annotate(t.Context(), annotated, "shop", objects)
			assert.NoError(t, err)
			assert.Equal(t, annotated, again)
			assert.Equal(t, podhash.References(workload), podhash.References(annotated))
		}
		after, _ := json.Marshal(workload.Object)
		assert.Equal(t, string(before), string(after))
	})
}

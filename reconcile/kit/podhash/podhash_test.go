package podhash_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Which changes of what is read change the hash.
func TestWhatCounts(t *testing.T) {
	t.Parallel()
	one := secret("a", map[string]string{"k": "v", "other": "w"})
	reads := deployment(fields{"containers": list{fields{"env": list{keyRef("secretKeyRef", "a", "k")}}}})
	with := func(change func(obj *unstructured.Unstructured)) *unstructured.Unstructured {
		changed := one.DeepCopy()
		change(changed)
		return changed
	}
	for reason, row := range map[string]struct {
		workload      *unstructured.Unstructured
		before, after *unstructured.Unstructured
		same          bool
	}{
		"podhash 4: a value":                   {mounting("a"), one, secret("a", map[string]string{"k": "V", "other": "w"}), false},
		"podhash 4: a key":                     {mounting("a"), one, secret("a", map[string]string{"K": "v", "other": "w"}), false},
		"podhash 4: one more key":              {mounting("a"), one, secret("a", map[string]string{"k": "v", "other": "w", "z": ""}), false},
		"podhash 3: a key that is read":        {reads, one, secret("a", map[string]string{"k": "V", "other": "w"}), false},
		"podhash 3: a key that isn't read":     {reads, one, secret("a", map[string]string{"k": "v", "other": "W", "z": "z"}), true},
		"podhash 3: the key that is read goes": {reads, one, secret("a", map[string]string{"other": "w"}), false},
		"podhash 4: metadata": {mounting("a"), one, with(func(obj *unstructured.Unstructured) {
			obj.SetLabels(map[string]string{"a": "b"})
			obj.SetAnnotations(map[string]string{"a": "b"})
			obj.SetResourceVersion("7")
			obj.SetUID("u")
		}), true},
		"podhash 4: the type and immutable": {mounting("a"), one, with(func(obj *unstructured.Unstructured) {
			obj.Object["type"], obj.Object["immutable"] = "Opaque", true
		}), true},
		"podhash 4: stringData in place of data": {mounting("a"), one,
			object("v1", "Secret", "a", fields{"stringData": fields{"k": "v", "other": "w"}}), true},
		"podhash 4: stringData wins over data": {mounting("a"), one,
			object("v1", "Secret", "a", fields{"data": fields{"k": "eHg=", "other": "dw=="}, "stringData": fields{"k": "v"}}), true},
		"podhash 4: binaryData": {deployment(fields{"volumes": list{fields{"configMap": fields{"name": "a"}}}}),
			object("v1", "ConfigMap", "a", fields{"binaryData": fields{"k": "AAE="}}), object("v1", "ConfigMap", "a", fields{"binaryData": fields{"k": "AAI="}}), false},
		"podhash 18: values that the cluster refuses are different values": {mounting("a"),
			object("v1", "Secret", "a", fields{"data": fields{"k": int64(1)}}), object("v1", "Secret", "a", fields{"data": fields{"k": "not base64!"}}), false},
		"podhash 18: null is an empty value": {mounting("a"),
			object("v1", "Secret", "a", fields{"data": fields{"k": nil}}), object("v1", "Secret", "a", fields{"data": fields{"k": ""}}), true},
		"podhash 12: the digest counts, not the values": {mounting("a"),
			annotate(one, "operkit.dev/dependency-digest", "1"), annotate(secret("a", map[string]string{"k": "V"}), "operkit.dev/dependency-digest", "1"), true},
		"podhash 12: another digest": {mounting("a"),
			annotate(one, "operkit.dev/dependency-digest", "1"), annotate(one, "operkit.dev/dependency-digest", "2"), false},
		"podhash 10: an object that the workload skips": {annotate(mounting("a", "b"), "operkit.dev/dependency-hash-skip", " Secret/a,ConfigMap/z "),
			one, secret("a", map[string]string{"k": "V"}), true},
		"podhash 10: another object than the workload skips": {annotate(mounting("a", "b"), "operkit.dev/dependency-hash-skip", "ConfigMap/a"),
			one, secret("a", map[string]string{"k": "V"}), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := secret("b", map[string]string{"x": "y"})
			before, after := hashOf(t, podhash.New(), row.workload, row.before, b), hashOf(t, podhash.New(), row.workload, row.after, b)
			assert.NotEmpty(t, before)
			assert.Equal(t, row.same, before == after)
		})
	}
}

// Parts that are joined without their lengths would be the same bytes.
func TestLengths(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, row := range map[string]map[string]string{
		"a":    {"k": "v", "l": "w"},
		"b":    {"k": "vl", "": "w"},
		"c":    {"kv": "", "l": "w"},
		"d":    {"k": "", "vl": "w"},
		"only": {"k": "vlw"},
	} {
		hash := hashOf(t, podhash.New(), mounting("s"), secret("s", row))
		assert.NotContains(t, seen, hash, "podhash 5: %s", name)
		seen[hash] = name
	}
	ab := hashOf(t, podhash.New(), mounting("a", "b"), secret("a", map[string]string{"k": "1"}), secret("b", nil))
	ba := hashOf(t, podhash.New(), mounting("a", "b"), secret("a", nil), secret("b", map[string]string{"k": "1"}))
	assert.NotEqual(t, ab, ba)
}

func TestHash(t *testing.T) {
	t.Parallel()
	t.Run("podhash 5: it is the SHA-256 of the parts with their lengths, the same in each process", func(t *testing.T) {
		t.Parallel()
		// Computed outside of Go: each part has its length before it, in eight bytes.
		assert.Equal(t, "723c06ef534cff7763a8ba8b434163f38d9d700e6ddee126a98c47c9b2c4188d", hashOf(t, podhash.New(), mounting("a"), secret("a", map[string]string{"k": "v"})))
	})
	t.Run("podhash 6: other annotations stay, and the domain is the operator's", func(t *testing.T) {
		t.Parallel()
		workload := mounting("a")
		require.NoError(t, unstructured.SetNestedField(workload.Object, "b", "spec", "template", "metadata", "annotations", "a"))
		annotated, _, err := podhash.New(podhash.Domain("example.dev")).Annotate(t.Context(), workload, "shop", reading(secret("a", nil)))
		require.NoError(t, err)
		assert.Equal(t, "b", templateAnnotation(annotated, "a"))
		assert.NotEmpty(t, templateAnnotation(annotated, "example.dev/dependency-hash"))
		assert.Empty(t, templateAnnotation(annotated, hashKey))
		assert.Empty(t, templateAnnotation(workload, "example.dev/dependency-hash"), "what was passed isn't changed")
	})
	t.Run("podhash 6: nothing counts, no annotation", func(t *testing.T) {
		t.Parallel()
		for _, workload := range []*unstructured.Unstructured{
			mounting(), mounting("absent"), annotate(mounting("a"), "operkit.dev/dependency-hash-skip", "Secret/a"), deployment(nil),
		} {
			annotated, _, err := podhash.New().Annotate(t.Context(), workload, "shop", reading(secret("a", nil)))
			require.NoError(t, err)
			assert.Same(t, workload, annotated)
		}
	})
	t.Run("podhash 7: objects are read in the namespace of the Pods", func(t *testing.T) {
		t.Parallel()
		workload := mounting("a")
		workload.SetNamespace("elsewhere")
		var asked []string
		_, _, err := podhash.New().Annotate(t.Context(), workload, "shop", func(_ context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
			asked = append(asked, ref.String())
			return nil, nil
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"Secret elsewhere/a"}, asked)
	})
	t.Run("podhash 8: an absent object is left out, and named if it is required", func(t *testing.T) {
		t.Parallel()
		workload := mounting("a", "late")
		workload.Object["spec"].(fields)["template"].(fields)["spec"].(fields)["containers"] = list{
			fields{"env": list{keyRef("configMapKeyRef", "maybe", "k", true)}}}
		annotated, missing, err := podhash.New().Annotate(t.Context(), workload, "shop", reading(secret("a", nil)))
		require.NoError(t, err)
		assert.Equal(t, []podhash.Reference{{Kind: "Secret", Name: "late"}}, missing)
		assert.Equal(t, hashOf(t, podhash.New(), mounting("a"), secret("a", nil)), templateAnnotation(annotated, hashKey))
	})
	t.Run("podhash 9: an object that can't be read is an error with its name", func(t *testing.T) {
		t.Parallel()
		forbidden := errors.New("forbidden")
		_, _, err := podhash.New().Annotate(t.Context(), mounting("a"), "shop", func(context.Context, deploy.Ref) (*unstructured.Unstructured, error) {
			return nil, forbidden
		})
		require.ErrorIs(t, err, forbidden)
		assert.EqualError(t, err, "Secret shop/a: forbidden")
	})
	t.Run("podhash 10: an option skips references", func(t *testing.T) {
		t.Parallel()
		h := podhash.New(nil, podhash.Skip(nil), podhash.Skip(func(workload *unstructured.Unstructured, ref podhash.Reference) bool {
			return workload.GetName() == "web" && ref.Name == "b"
		}), podhash.Skip(func(_ *unstructured.Unstructured, ref podhash.Reference) bool { return ref.String() == "Secret/c" }))
		assert.Equal(t, hashOf(t, podhash.New(), mounting("a"), secret("a", nil)),
			hashOf(t, h, mounting("a", "b", "c"), secret("a", nil), secret("b", nil), secret("c", nil)))
	})
	t.Run("podhash 10: an annotation that names no object is an error", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"a", "Service/a", "Secret/", "secret/a"} {
			_, _, err := podhash.New().Annotate(t.Context(), annotate(mounting("a"), "operkit.dev/dependency-hash-skip", "ConfigMap/x,"+text), "shop", reading())
			assert.EqualError(t, err, fmt.Sprintf("annotation operkit.dev/dependency-hash-skip: %q: names no object: write Secret/<name> or ConfigMap/<name>", text))
		}
	})
	t.Run("podhash 18: 500 references", func(t *testing.T) {
		t.Parallel()
		var names []string
		var objects []*unstructured.Unstructured
		for i := range 500 {
			names = append(names, fmt.Sprintf("s-%d", i))
			objects = append(objects, secret(names[i], map[string]string{"k": names[i]}))
		}
		before := hashOf(t, podhash.New(), mounting(names...), objects...)
		objects[250] = secret("s-250", map[string]string{"k": "changed"})
		assert.NotEqual(t, before, hashOf(t, podhash.New(), mounting(names...), objects...))
	})
	t.Run("podhash 18: templates whose metadata isn't a map are left to the cluster", func(t *testing.T) {
		t.Parallel()
		for _, metadata := range []any{"x", list{}, fields{"annotations": "x"}} {
			workload := mounting("a")
			workload.Object["spec"].(fields)["template"].(fields)["metadata"] = metadata
			annotated, _, err := podhash.New().Annotate(t.Context(), workload, "shop", reading(secret("a", nil)))
			require.NoError(t, err)
			assert.Same(t, workload, annotated)
		}
	})
}

// A Pod or Job that exists can't be started again.
func TestKeptHash(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, apiVersion, kind, live string
		exists, deleted                bool
		want                           string
	}{
		{"podhash 13: a new Job has the hash", "batch/v1", "Job", "", false, false, "new"},
		{"podhash 13: a Job that exists keeps its hash", "batch/v1", "Job", "old", true, false, "old"},
		{"podhash 13: a Job without a hash stays without", "batch/v1", "Job", "", true, false, ""},
		{"podhash 13: the successor of a Job that is being deleted is a new one", "batch/v1", "Job", "old", true, true, "new"},
		{"podhash 13: a Pod that exists keeps its hash", "v1", "Pod", "old", true, false, "old"},
		{"podhash 13: a Deployment has the hash of today", "apps/v1", "Deployment", "old", true, false, "new"},
		{"podhash 13: so has a CronJob", "batch/v1", "CronJob", "old", true, false, "new"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			spec := fields{"volumes": list{fields{"secret": fields{"secretName": "a"}}}}
			holder := fields{"spec": spec}
			workload := object(row.apiVersion, row.kind, "web", fields{"spec": fields{"template": holder}})
			switch row.kind {
			case "Pod":
				workload = object(row.apiVersion, row.kind, "web", holder)
			case "CronJob":
				workload = object(row.apiVersion, row.kind, "web", fields{"spec": fields{"jobTemplate": fields{"spec": fields{"template": holder}}}})
			}
			objects := []*unstructured.Unstructured{secret("a", nil)}
			if row.exists {
				live := workload.DeepCopy()
				if row.live != "" {
					path := map[string][]string{"Pod": {}, "CronJob": {"spec", "jobTemplate", "spec", "template"}}[row.kind]
					if path == nil {
						path = []string{"spec", "template"}
					}
					require.NoError(t, unstructured.SetNestedField(live.Object, row.live, append(path, "metadata", "annotations", hashKey)...))
				}
				if row.deleted {
					require.NoError(t, unstructured.SetNestedField(live.Object, "2030-01-01T00:00:00Z", "metadata", "deletionTimestamp"))
				}
				objects = append(objects, live)
			}
			got := hashOf(t, podhash.New(), workload, objects...)
			if row.want == "new" {
				assert.Len(t, got, 64)
			} else {
				assert.Equal(t, row.want, got)
			}
		})
	}
}

// certificate returns a certificate and its key, in PEM.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	block := func(kind string, content []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", encoded)
}

func TestReloads(t *testing.T) {
	t.Parallel()
	one, key := certificate(t)
	two, _ := certificate(t)
	pair := secret("a", map[string]string{"tls.crt": one, "tls.key": key})
	pair.Object["type"] = "kubernetes.io/tls"
	onlyWeb := podhash.Reloads(func(workload *unstructured.Unstructured) bool { return workload.GetName() == "web" })
	for reason, row := range map[string]struct {
		object   *unstructured.Unstructured
		options  []podhash.Option
		reloads  string
		leftsOut bool
	}{
		"podhash 11: by default a certificate counts":                       {pair, nil, "", false},
		"podhash 11: a TLS Secret of a program that reloads":                {pair, nil, "true", true},
		"podhash 11: of all programs":                                       {pair, []podhash.Option{podhash.Reloads(nil)}, "", true},
		"podhash 11: of programs of an option":                              {pair, []podhash.Option{onlyWeb}, "", true},
		"podhash 11: the annotation overrides the option":                   {pair, []podhash.Option{podhash.Reloads(nil)}, "false", false},
		"podhash 11: a bundle":                                              {secret("a", map[string]string{"ca.crt": "# root\n" + one + two + "\n"}), nil, "true", true},
		"podhash 11: a key beside a certificate is no bundle":               {secret("a", map[string]string{"ca.crt": one, "ca.key": key}), nil, "true", false},
		"podhash 11: a key and a certificate in one value":                  {secret("a", map[string]string{"both": one + key}), nil, "true", false},
		"podhash 11: text after certificates":                               {secret("a", map[string]string{"ca.crt": one + "password"}), nil, "true", false},
		"podhash 11: a password is no certificate":                          {secret("a", map[string]string{"password": "p"}), nil, "true", false},
		"podhash 11: nothing is no bundle":                                  {secret("a", map[string]string{}), nil, "true", false},
		"podhash 11: an empty value is no bundle":                           {secret("a", map[string]string{"ca.crt": ""}), nil, "true", false},
		"podhash 11: another Secret of a program that reloads still counts": {secret("a", map[string]string{"k": "v", "ca.crt": one}), nil, "true", false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			workload := mounting("a")
			if row.reloads != "" {
				workload = annotate(workload, "operkit.dev/reloads-certificates", row.reloads)
			}
			assert.Equal(t, row.leftsOut, hashOf(t, podhash.New(row.options...), workload, row.object) == "")
		})
	}
}

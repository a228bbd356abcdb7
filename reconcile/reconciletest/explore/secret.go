package explore

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// secrets are values that mustn't show, with where they are from: "Secret test/key data.password".
type secrets map[string]string

// shortest is the length of the shortest value that is searched for: a shorter one shows by chance.
const shortest = 8

// text is where a value may show.
type text struct{ where, content string }

// leaks finds values of Secrets in the status and the metadata of resources, in events and in log lines. It never
// returns the value.
func (w *witness) leaks(objects []*unstructured.Unstructured) []fault {
	texts := w.trial.texts()
	var shown []string
	for _, obj := range objects {
		ref := deploy.RefOf(obj)
		switch {
		case ref.Kind.Kind == "Secret" && ref.Kind.Group == "":
			w.secrets.add(obj)
		case w.explores(ref):
			texts = append(texts, textsOf(obj)...)
			shown = append(shown, obj.GetNamespace()+"/"+obj.GetName(), encoded(obj.Object["spec"]))
		case ref.Kind.Kind == "Event":
			texts = append(texts, text{"an Event", encoded(obj.Object)})
		}
	}
	var details []string
	for _, value := range slices.Sorted(maps.Keys(w.secrets)) {
		if slices.ContainsFunc(shown, func(spec string) bool { return strings.Contains(spec, value) }) {
			continue // the resource itself shows it, or has it as its name
		}
		for _, t := range texts {
			if strings.Contains(t.content, value) {
				details = append(details, w.secrets[value]+": it shows in "+t.where)
			}
		}
	}
	if len(details) == 0 {
		return nil
	}
	slices.Sort(details)
	return []fault{{"a value of a Secret shows", slices.Compact(details)}}
}

// textsOf returns what a resource shows outside of its spec.
func textsOf(obj *unstructured.Unstructured) (texts []text) {
	for _, field := range [][]string{{"status"}, {"metadata", "annotations"}, {"metadata", "labels"}} {
		if value, found, _ := unstructured.NestedFieldNoCopy(obj.Object, field...); found {
			texts = append(texts, text{nameOf(obj) + " " + strings.Join(field, "."), encoded(value)})
		}
	}
	return texts
}

func encoded(value any) string {
	content, _ := json.Marshal(value) // it has been JSON before
	return string(content)
}

// add adds the values of a Secret, in each form in which they may show.
func (s secrets) add(secret *unstructured.Unstructured) {
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if value, err := base64.StdEncoding.DecodeString(data[key]); err == nil {
			s.addValue(nameOf(secret), key, string(value))
		}
	}
	plain, _, _ := unstructured.NestedStringMap(secret.Object, "stringData") // a cluster in memory stores it as it is
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		s.addValue(nameOf(secret), key, plain[key])
	}
}

func (s secrets) addValue(secret, key, value string) {
	if !private(key, value) {
		return
	}
	from := secret + " data." + key
	s[base64.StdEncoding.EncodeToString([]byte(value))] = from
	// Only the longest line of a value is searched for: how its lines are joined differs.
	line := slices.MaxFunc(strings.Split(value, "\n"), func(a, b string) int { return len(a) - len(b) })
	if len(line) >= shortest {
		s[line], s[strings.Trim(strconv.Quote(line), `"`)], s[strings.Trim(encoded(line), `"`)] = from, from, from
	}
}

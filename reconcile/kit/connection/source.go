package connection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Part is one of the things that a connection consists of. Its text is the name of the part's file in a volume, and in
// upper letters the end of its environment variable.
type Part string

// The parts. A bucket has its name as Database, and the two keys for its access as Username and Password.
const (
	Host     Part = "host"
	Port     Part = "port"
	Username Part = "username"
	Password Part = "password"
	Database Part = "database"
	// URI is all of it in one text.
	URI Part = "uri"
	// CA has certificates in PEM that sign that of the service.
	CA Part = "ca.crt"
	// Type and Provider are those of the Service Binding specification, such as postgresql and bitnami.
	Type     Part = "type"
	Provider Part = "provider"
	Region   Part = "region"
)

// parts are all parts in their order.
var parts = []Part{Host, Port, Username, Password, Database, URI, CA, Type, Provider, Region}

// keys are the well-known keys of each part; the first one that is there counts.
var keys = map[Part][]string{
	Host:     {"host", "hostname", "BUCKET_HOST"},
	Port:     {"port", "BUCKET_PORT"},
	Username: {"username", "user", "AWS_ACCESS_KEY_ID"},
	Password: {"password", "AWS_SECRET_ACCESS_KEY"},
	Database: {"database", "dbname", "BUCKET_NAME"},
	URI:      {"uri"},
	CA:       {"ca.crt", "certificates", "ca"},
	Type:     {"type"},
	Provider: {"provider"},
	Region:   {"region", "BUCKET_REGION"},
}

// secretParts are read from Secrets only.
var secretParts = []Part{Password, URI}

// From is where one part is found: in a key of a Secret or of a ConfigMap, or in Value.
type From struct {
	// Secret and ConfigMap are names of objects; only one of them may be set.
	Secret, ConfigMap string
	// Key is the key in the object.
	Key string
	// Value is the part itself, if no object has it. It stands in Pods as it is.
	Value string
}

// Source is where a connection is found.
type Source struct {
	// Namespace is the namespace of all objects. Pods that use Env or Volume have to be in it too.
	Namespace string
	// Secret and ConfigMap are names of objects with well-known keys. A part that both have is read from the Secret.
	// Password and URI are read from Secrets only. An empty name means that there is no such object.
	Secret, ConfigMap string
	// CASecret is the name of a Secret with the CA under ca.crt, if it isn't in Secret, such as CLUSTER-ca of
	// CloudNativePG.
	CASecret string
	// Parts say for single parts where they are. They replace the well-known keys.
	Parts map[Part]From
	// Require are the parts that Read waits for; nil means Host, which may come from the URI.
	Require []Part
}

func (s Source) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("connection: "+format, args...)) }
	if s.Namespace == "" {
		fault("no namespace: set Source.Namespace")
	}
	if s.Secret == "" && s.ConfigMap == "" && len(s.Parts) == 0 {
		fault("no source: name a Secret, a ConfigMap or single parts")
	}
	for _, part := range s.Require {
		if !slices.Contains(parts, part) {
			fault("unknown part %q in Require", part)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(s.Parts)) {
		from := s.Parts[part]
		isObject := from.Secret != "" || from.ConfigMap != ""
		switch {
		case !slices.Contains(parts, part):
			fault("unknown part %q", part)
		case from.Secret != "" && from.ConfigMap != "", isObject && from.Value != "":
			fault("part %s: name one of a Secret, a ConfigMap and a value", part)
		case isObject != (from.Key != ""):
			fault("part %s: name an object and its key", part)
		case slices.Contains(secretParts, part) && from.Secret == "":
			fault("part %s: it has to be in a Secret", part)
		}
	}
	return errors.Join(faults...)
}

// place is a part in the keys of an object, of which the first one that is there counts. Without an object it is value.
type place struct {
	kind, name string
	keys       []string
	value      string
}

// placesOf returns the places of a part, in the order in which they count.
func (s Source) placesOf(part Part) []place {
	if from, named := s.Parts[part]; named {
		switch {
		case from.Secret != "":
			return []place{{kind: "Secret", name: from.Secret, keys: []string{from.Key}}}
		case from.ConfigMap != "":
			return []place{{kind: "ConfigMap", name: from.ConfigMap, keys: []string{from.Key}}}
		}
		return []place{{value: from.Value}}
	}
	var all []place
	if s.CASecret != "" && part == CA {
		all = append(all, place{kind: "Secret", name: s.CASecret, keys: []string{"ca.crt"}})
	}
	if s.Secret != "" {
		all = append(all, place{kind: "Secret", name: s.Secret, keys: keys[part]})
	}
	if s.ConfigMap != "" && !slices.Contains(secretParts, part) {
		all = append(all, place{kind: "ConfigMap", name: s.ConfigMap, keys: keys[part]})
	}
	return all
}

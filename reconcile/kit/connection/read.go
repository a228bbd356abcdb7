package connection

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/pem"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reader reads objects, and has a change of them bring the resource to reconcile. *reconcile.Session is a Reader.
type Reader interface {
	// Get returns an object, nil if there is none.
	Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error)
	// Follow watches an object, whether it is there or not.
	Follow(ctx context.Context, ref deploy.Ref) error
}

// reading is what a call of Read has read.
type reading struct {
	source  Source
	objects map[deploy.Ref]*unstructured.Unstructured
	binding *Binding
}

// Read follows and reads the objects of source. An object or a required part that isn't there is a
// request.Precondition, so that the resource waits. Content that can't be used, such as a port that isn't a number, is a
// request.Configuration. Errors name the object and the key, and never what is in it. A Source that can't be is an error
// that names all its mistakes.
func Read(ctx context.Context, reader Reader, source Source) (*Binding, error) {
	if err := source.validate(); err != nil {
		return nil, err
	}
	r := reading{source, map[deploy.Ref]*unstructured.Unstructured{}, &Binding{namespace: source.Namespace, found: map[Part]From{}}}
	for _, part := range parts {
		for _, place := range source.placesOf(part) {
			if err := r.fetch(ctx, reader, place); err != nil {
				return nil, err
			}
		}
	}
	for _, part := range parts {
		if err := r.take(part); err != nil {
			return nil, err
		}
	}
	return r.binding, r.missing()
}

func (s Source) ref(kind, name string) deploy.Ref {
	return deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: kind}, Namespace: s.Namespace, Name: name}
}

// fetch reads the object of a place, once. All are followed, also those after one that is missing.
func (r *reading) fetch(ctx context.Context, reader Reader, at place) error {
	if at.kind == "" {
		return nil
	}
	ref := r.source.ref(at.kind, at.name)
	if _, done := r.objects[ref]; done {
		return nil
	}
	if err := reader.Follow(ctx, ref); err != nil {
		return err
	}
	object, err := reader.Get(ctx, ref)
	if err != nil {
		return err
	}
	r.objects[ref] = object
	r.binding.objects = append(r.binding.objects, ref)
	return nil
}

// take sets one part of the binding.
func (r *reading) take(part Part) error {
	for _, at := range r.source.placesOf(part) {
		if at.kind == "" {
			if at.value == "" {
				continue
			}
			return r.set(part, From{Value: at.value}, "connection: part "+string(part), []byte(at.value))
		}
		object := r.objects[r.source.ref(at.kind, at.name)]
		if object == nil {
			return request.Precondition("%s %s/%s isn't there yet", at.kind, r.source.Namespace, at.name)
		}
		for _, key := range at.keys {
			where := at.kind + " " + r.source.Namespace + "/" + at.name + ": key " + key
			content, found, err := contentOf(object, at.kind, key, where)
			if err != nil {
				return err
			}
			if !found || len(content) == 0 {
				continue
			}
			from := From{Secret: at.name, Key: key}
			if at.kind == "ConfigMap" {
				from = From{ConfigMap: at.name, Key: key}
			}
			return r.set(part, from, where, content)
		}
	}
	return nil
}

// contentOf returns the content of a key of a Secret or a ConfigMap. Other keys aren't decoded.
func contentOf(object *unstructured.Unstructured, kind, key, where string) ([]byte, bool, error) {
	data, _ := object.Object["data"].(map[string]any)
	text, found := data[key].(string)
	if kind == "ConfigMap" || !found {
		return []byte(text), found, nil
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil { // The error of base64 is left out: it may have a part of the content.
		return nil, false, request.Configuration("%s: its content isn't base64: correct it", where)
	}
	return content, true, nil
}

// set checks the content of a part and takes it over.
func (r *reading) set(part Part, from From, where string, content []byte) error {
	if part != CA && !utf8.Valid(content) {
		return request.Configuration("%s: its content isn't UTF-8 text: correct it", where)
	}
	b, text := r.binding, strings.TrimSpace(string(content))
	b.found[part] = from
	switch part {
	case Host:
		host, ok := hostOf(text)
		if !ok {
			return request.Configuration("%s: it "+hasToBeHost+": correct it", where)
		}
		b.Host = host
	case Port:
		port, ok := portOf(text)
		if !ok {
			return request.Configuration("%s: it "+hasToBePort+": correct it", where)
		}
		b.Port = port
	case Username:
		b.Username = text
	case Password:
		b.Password = Hide(string(content)) // as the Pods get it: with its spaces
	case Database:
		b.Database = text
	case CA:
		if block, _ := pem.Decode(bytes.TrimSpace(content)); block == nil || block.Type != "CERTIFICATE" {
			return request.Configuration("%s: it has to be certificates in PEM: correct it", where)
		}
		b.CA = slices.Clone(content)
	case URI:
		return r.setURI(where, text)
	case Type:
		b.Type = text
	case Provider:
		b.Provider = text
	case Region:
		b.Region = text
	}
	return nil
}

// setURI takes a URI over, and the parts in it that nothing else has set: URI comes after them.
func (r *reading) setURI(where, text string) error {
	b := r.binding
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" || parsed.Opaque != "" { // The error of net/url has the whole URI: it is left out.
		return request.Configuration("%s: it has to be a URI such as postgresql://HOST/DATABASE, with other characters escaped: correct it", where)
	}
	host, isHost := hostOf(parsed.Hostname())
	if !isHost && b.Host == "" && parsed.Host != "" {
		return request.Configuration("%s: its host "+hasToBeHost+", and no list: correct it, or name another key for %s", where, Host)
	}
	port, isPort := portOf(parsed.Port())
	if !isPort && b.Port == 0 && parsed.Port() != "" {
		return request.Configuration("%s: its port "+hasToBePort+": correct it, or name another key for %s", where, Port)
	}
	b.URI = Hide(text)
	b.Host = cmp.Or(b.Host, host)
	b.Port = cmp.Or(b.Port, port)
	b.Username = cmp.Or(b.Username, parsed.User.Username())
	if password, set := parsed.User.Password(); set && b.Password.Reveal() == "" {
		b.Password = Hide(password)
	}
	b.Database = cmp.Or(b.Database, strings.TrimPrefix(parsed.Path, "/"))
	return nil
}

const (
	hasToBeHost = "has to be a host name or an IP address, without scheme, port and path"
	hasToBePort = "has to be a number from 1 to 65535"
)

func portOf(text string) (int, bool) {
	port, err := strconv.ParseUint(text, 10, 16)
	return int(port), err == nil && port != 0
}

// hostOf returns a host name, or an IP address without brackets.
func hostOf(text string) (string, bool) {
	bare := text
	if inner, opened := strings.CutPrefix(text, "["); opened {
		var closed bool
		if bare, closed = strings.CutSuffix(inner, "]"); !closed {
			return "", false
		}
	}
	if address, err := netip.ParseAddr(bare); err == nil {
		return address.String(), true
	}
	isWrong := strings.ContainsFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune(`:/@[]?#%\,`, c)
	})
	return text, text != "" && !isWrong
}

// missing returns an error for the first required part that isn't there.
func (r *reading) missing() error {
	required := r.source.Require
	if required == nil {
		required = []Part{Host}
	}
	for _, part := range required {
		if !r.binding.has(part) {
			return request.Precondition("%s", r.source.wants(part))
		}
	}
	return nil
}

// wants describes where a missing part is looked for.
func (s Source) wants(part Part) string {
	var places []string
	for _, at := range s.placesOf(part) {
		if at.kind != "" {
			places = append(places, at.kind+" "+s.Namespace+"/"+at.name+" has no key "+strings.Join(at.keys, " or "))
		}
	}
	if len(places) == 0 {
		return "connection: nothing says where the " + string(part) + " is"
	}
	return "connection: no " + string(part) + " yet: " + strings.Join(places, ", ")
}

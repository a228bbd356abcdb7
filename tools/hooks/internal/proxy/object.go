package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// object is the object in the body of a write. What isn't looked at stays as it is.
type object interface {
	// name returns metadata.name, empty if the API server is to choose it.
	name() string
	// secretType returns the type, if the object is a Secret.
	secretType() (string, error)
	// own adds an owner to an object that is in a namespace, empty for none.
	own(by owner, namespace string) error
	// pin sets metadata.uid, so that the API server takes the object for no other one of its name.
	pin(uid types.UID)
	// encode returns the body.
	encode() ([]byte, error)
}

// decodeObject decodes a body.
func decodeObject(body []byte, contentType string) (object, *refusal) {
	if contentType == typeProtobuf {
		o, err := decodeProtobuf(body)
		if err != nil {
			return nil, badRequest("body: it isn't an object in protobuf: %v", err)
		}
		return o, nil
	}
	content := bytes.TrimLeft(body, " \t\r\n")
	if contentType != typeJSON && !bytes.HasPrefix(content, []byte("{")) {
		if len(content) > maxYAML {
			return nil, tooLarge(maxYAML)
		}
		var err error
		if content, err = yaml.YAMLToJSONStrict(content); err != nil {
			return nil, badRequest("body: it isn't YAML: %v", err)
		}
	}
	o, err := decodeJSON(content)
	if err != nil {
		return nil, badRequest("body: %v", err)
	}
	return o, nil
}

// document is a JSON object with the values of its fields, not decoded further.
type document map[string]json.RawMessage

// jsonObject is an object in JSON.
type jsonObject struct {
	fields, metadata document
	given            string
}

func decodeJSON(content []byte) (*jsonObject, error) {
	o := &jsonObject{}
	if err := unmarshal(content, &o.fields); err != nil {
		return nil, fmt.Errorf("it isn't an object in JSON: %w", err)
	}
	if o.fields == nil {
		return nil, errors.New("it isn't an object in JSON: it is null")
	}
	if err := decode(o.fields["metadata"], "metadata", &o.metadata); err != nil {
		return nil, err
	}
	if o.metadata == nil {
		o.metadata = document{}
	}
	return o, decode(o.metadata["name"], "metadata.name", &o.given)
}

func (o *jsonObject) name() string { return o.given }

func (o *jsonObject) secretType() (kind string, err error) {
	err = decode(o.fields["type"], "type", &kind)
	return kind, err
}

func (o *jsonObject) own(by owner, namespace string) error {
	if by.refers(namespace) {
		if err := by.addReference(o.metadata); err != nil {
			return err
		}
	} else {
		annotations := document{}
		if err := decode(o.metadata["annotations"], "metadata.annotations", &annotations); err != nil {
			return err
		}
		for key, value := range by.annotations() {
			annotations[key] = encode(value)
		}
		o.metadata["annotations"] = encode(annotations)
	}
	o.fields["metadata"] = encode(o.metadata)
	return nil
}

func (o *jsonObject) pin(uid types.UID) {
	o.metadata["uid"] = encode(uid)
	o.fields["metadata"] = encode(o.metadata)
}

func (o *jsonObject) encode() ([]byte, error) { return encode(o.fields), nil }

// unmarshal decodes JSON, and refuses fields that are there twice: readers differ in which of them counts.
func unmarshal(content []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(content, into, kjson.DisallowDuplicateFields)
	return errors.Join(append(strict, err)...)
}

// decode decodes the value of a field. An absent value and null leave into as it is.
func decode(value json.RawMessage, field string, into any) error {
	if len(value) == 0 || bytes.Equal(value, []byte("null")) {
		return nil
	}
	if err := unmarshal(value, into); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// encode encodes a value that can be encoded.
func encode(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("proxy: encode %T: %v", value, err)) // the callers encode strings, decoded JSON and types of the API
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

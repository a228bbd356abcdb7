package conversion_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzReview sends what may be no review: each answer is a refusal that says why, or has all objects in their order
// with their names, or a reason and none.
func FuzzReview(f *testing.F) {
	const wrapped = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":`
	for _, body := range []string{
		``, `null`, `[]`, `tea`, `{}`, wrapped + `null}`, wrapped + `{"uid":"1"}}`, wrapped + `{"uid":"1","objects":[null,3,"",[],{}]}}`,
		wrapped + `{"uid":"1","desiredAPIVersion":"example.com/v2","objects":[{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"a"},"spec":{"count":1}}]}}`,
		wrapped + `{"uid":"1","desiredAPIVersion":"example.com/v1","objects":[{"apiVersion":"example.com/v2","kind":"Shop","metadata":[],"spec":3}]}}`,
		wrapped + `{"uid":"1","desiredAPIVersion":"/","objects":[{"apiVersion":"","kind":"Shop","metadata":null}]}}`,
		strings.Repeat(`{"a":`, 500) + `1` + strings.Repeat(`}`, 500),
	} {
		f.Add(body)
	}
	name := func(object map[string]any) any {
		metadata, _ := object["metadata"].(map[string]any)
		return metadata["name"]
	}
	f.Fuzz(func(t *testing.T, body string) {
		status, text, _ := convertOverHTTP(t, body)
		if status != http.StatusOK {
			assert.Equal(t, http.StatusBadRequest, status)
			assert.NotEmpty(t, text)
			return
		}
		var asked struct {
			Request struct {
				UID     string
				Objects []json.RawMessage
			}
		}
		var answered struct {
			Response struct {
				UID              string
				ConvertedObjects []map[string]any
				Result           metav1.Status
			}
		}
		require.NoError(t, json.Unmarshal([]byte(body), &asked))
		require.NoError(t, json.Unmarshal([]byte(text), &answered))
		assert.Equal(t, asked.Request.UID, answered.Response.UID)
		if answered.Response.Result.Status != metav1.StatusSuccess {
			assert.NotEmpty(t, answered.Response.Result.Message)
			assert.Empty(t, answered.Response.ConvertedObjects)
			return
		}
		require.Len(t, answered.Response.ConvertedObjects, len(asked.Request.Objects))
		for i, raw := range asked.Request.Objects {
			var before map[string]any
			require.NoError(t, json.Unmarshal(raw, &before))
			assert.Equal(t, name(before), name(answered.Response.ConvertedObjects[i]))
		}
	})
}

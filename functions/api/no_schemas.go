package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// unread stands in for schemas where nobody reads them: it looks at no type and answers with a schema that says nothing.
type unread struct{}

// Schema says nothing of a type.
func (unread) Schema(reflect.Type, bool, string) *huma.Schema { return &huma.Schema{} }

// SchemaFromRef finds nothing.
func (unread) SchemaFromRef(string) *huma.Schema { return nil }

// TypeFromRef finds nothing.
func (unread) TypeFromRef(string) reflect.Type { return nil }

// Map is empty.
func (unread) Map() map[string]*huma.Schema { return nil }

// RegisterTypeAlias notes nothing.
func (unread) RegisterTypeAlias(reflect.Type, reflect.Type) {}

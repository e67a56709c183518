package api

import "github.com/danielgtaylor/huma/v2"

// open lets documents that only come in answers have fields beyond those described, so that a later version may add
// some. What is sent stays closed.
func open(operations []*huma.Operation, schemas huma.Registry) {
	sent := map[*huma.Schema]bool{}
	for _, op := range operations {
		if op.RequestBody != nil {
			for _, media := range op.RequestBody.Content {
				reach(schemas, media.Schema, sent)
			}
		}
	}
	for _, op := range operations {
		for _, response := range op.Responses {
			for _, media := range response.Content {
				answered := map[*huma.Schema]bool{}
				reach(schemas, media.Schema, answered)
				for s := range answered {
					if closed, is := s.AdditionalProperties.(bool); is && !closed && !sent[s] {
						s.AdditionalProperties = nil
					}
				}
			}
		}
	}
}

// reach adds a schema and all it is made of.
func reach(schemas huma.Registry, s *huma.Schema, reached map[*huma.Schema]bool) {
	if s != nil && s.Ref != "" {
		s = schemas.SchemaFromRef(s.Ref)
	}
	if s == nil || reached[s] {
		return
	}
	reached[s] = true
	for _, of := range s.Properties {
		reach(schemas, of, reached)
	}
	for _, of := range append([]*huma.Schema{s.Items}, s.AnyOf...) {
		reach(schemas, of, reached)
	}
}

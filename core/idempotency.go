package core

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
)

// ValidIdempotencyKey reports whether key may name a call: 1 to MaxIdempotencyKeyBytes visible ASCII characters.
func ValidIdempotencyKey(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return key != "" && len(key) <= MaxIdempotencyKeyBytes
}

// packers are spare compressors: a new one takes longer to make than most answers take to pack.
var packers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one that there is
	}
	return w
}}

// PackAnswer is a body in the form in which stores keep it: that of a batch is large, and much of it is alike.
func PackAnswer(body []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, _ := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&packed)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// UnpackAnswer is the inverse of PackAnswer. An error means that what was kept is damaged.
func UnpackAnswer(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the answer kept under an idempotency key is damaged: %w", err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("the answer kept under an idempotency key is damaged: %w", err)
	}
	return body, r.Close()
}

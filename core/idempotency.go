package core

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
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

// maxWholeBytes is up to which length an answer is kept without compressing it: making a compressor takes longer than all else.
const maxWholeBytes = 2 << 10

// PackAnswer is a body in the form in which stores keep it, a gzip member: that of a batch is large, and much of it is alike.
func PackAnswer(body []byte) ([]byte, error) {
	if len(body) <= maxWholeBytes {
		return packWhole(body), nil
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// packWhole is a gzip member (RFC 1952) with one stored block (RFC 1951, 3.2.4).
func packWhole(body []byte) []byte {
	b := make([]byte, 0, len(body)+23)
	b = append(b, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(body)))
	b = binary.LittleEndian.AppendUint16(b, ^uint16(len(body)))
	b = append(b, body...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
	return binary.LittleEndian.AppendUint32(b, uint32(len(body)))
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

/* ViTs that people write themselves: the names of vit-pytorch, of torch's nn.TransformerEncoder and
 * nn.MultiheadAttention, and of courses and textbooks. Layers have any name. Sources:
 * lucidrains/vit-pytorch's vit.py and simple_vit.py of 2020 to 2025; torch's transformer.py. */
#include "model/names/names.h"

const char *const heed_name_lists[] = {
    /* 0: where the parts of the embedding lie */
    ",embedding.,embeddings.,embed.,patch_embedding.,patch_embed.,patch_embeddings.,embedder.,"
    "embeddings_block.,embedding_layer.,input_embedding.,patch_embedding_layer.,pos_embedding.,"
    "pos_embed.,positional_embedding.,position_embedding.,positional_encoding.,pos_encoding.,"
    "encoder.,transformer.}",
    /* 1: the map of patches */
    "patch_embedding,patch_embed,patch_embeddings,patch_emb,to_patch_embedding,"
    "patch_to_embedding,patch_embedding_layer,embedding,embedder,patcher,patchify,conv,conv1,"
    "conv_proj,proj,projection,linear,linear_proj,linear_projection,linear_mapper,input_layer,"
    "patch_proj,patch_projection,to_embedding,embed,tokenizer}",
    /* 2: the attention of a layer */
    "attn,attention,self_attn,self_attention,mha,msa,mhsa,multihead_attn,multi_head_attention,"
    "multihead_attention,multi_head_attn,mhsa_block,msa_block,attn_block,attention_block,"
    "attention_layer,self_attention_layer,attn_layer,msa_block.multihead_attn,"
    "msa_block.attn,attn_block.attn,attention_block.attention,attention_block.attn,"
    "attention.attention,attention.attn,attention.mha,attention.self_attention,attn.attn,"
    "attn.mha,attention.multihead_attn,self_attention.attention,0.fn.fn,0.fn,0,0.fn.1,1}",
    /* 3: its MLP */
    "mlp,mlp.mlp,mlp.net,mlp.layers,mlp.fc,mlp.model,mlp.block,ffn,ffn.net,ffn.layers,ff,ff.net,"
    "feed_forward,feed_forward.net,feedforward,feedforward.net,feed_forward.layers,mlp_block,"
    "mlp_block.mlp,mlp_block.net,mlp_layer,ff_block,ffn_block,linear,fc,1.fn.fn.net,1.fn.net,"
    "1.net,1.fn.1,fwd,positionwise_feed_forward,position_wise_feed_forward}",
    /* 4: the classifier */
    "mlp_head,head,classifier,classification_head,classifier_head,heads,fc,fc_out,linear_head,"
    "output,output_layer,out,mlp_head.mlp_head,classification,mlp_classifier,final_layer,linear,"
    "mlp}",
    /* 5: a module of each head */
    "heads,attention_heads,attn_heads,head,head_list,attentions,layers}",
    /* 6: query, key and value in one */
    "qkv,to_qkv,qkv_proj,qkv_projection,in_proj,qkv_layer,c_attn,wqkv,Wqkv,W_qkv}",
    /* 7 to 9: apart */
    "query,q_proj,q,to_q,w_q,wq,W_q,WQ,Wq,queries,query_proj,query_layer,fc_q,linear_q,q_linear,"
    "q_layer,query_projection,Q,to_queries,q_mappings,q_layers,query_layers,q_linears}",
    "key,k_proj,k,to_k,w_k,wk,W_k,WK,Wk,keys,key_proj,key_layer,fc_k,linear_k,k_linear,"
    "k_layer,key_projection,K,to_keys,k_mappings,k_layers,key_layers,k_linears}",
    "value,v_proj,v,to_v,w_v,wv,W_v,WV,Wv,values,value_proj,value_layer,fc_v,linear_v,v_linear,"
    "v_layer,value_projection,V,to_values,v_mappings,v_layers,value_layers,v_linears}",
};

#define ROWS(ROW)                                                                                  \
  ROW("?$0{cls_token,class_token,cls,class_embedding,cls_embedding,class_emb,cls_emb,cls_tok,"     \
      "class_tok,clstoken}<",                                                                      \
      CLS_TOKEN)                                                                                   \
  ROW("?$0{reg_token,register_tokens,registers,reg_tokens}<", REGISTER_TOKENS)                     \
  ROW("?$0{pos_embedding,position_embedding,position_embeddings,pos_embed,pos_embeddings,"         \
      "positional_embedding,positional_embeddings,pos_emb,position_emb,position_embed,positions,"  \
      "pos,positional_encoding,positional_encodings,pos_encoding,pos_enc,pe,pos_token}"            \
      "{,.weight,.pe}<",                                                                           \
      POSITION_EMBEDDINGS)                                                                         \
  ROW("?$0$1.{1,0,norm}.!", PATCH_NORM_WEIGHT)                                                     \
  ROW("$0$1{,.proj,.projection,.patcher,.conv,.linear,.patch_embed,.patch_embedding,.conv1,"       \
      ".embed,.patch_embeddings,.linear_projection,.projector,.patch_projection,.embedding,.0,.1," \
      ".2,.patcher.0,.proj.0,.projection.0,.projection.1,.patch_embeddings.projection,.conv.0,"    \
      ".patch_embeddings.proj,.patch_embed.proj,.linear.0}.!?",                                    \
      PATCH_WEIGHT)                                                                                \
  ROW("?$0$1.{3,2}.!", EMBEDDED_NORM_WEIGHT)                                                       \
  ROW("?{norm_pre,pre_norm,ln_pre,pre_layernorm,embed_norm,embedding_norm}.!", PRE_NORM_WEIGHT)    \
  ROW("#{norm1,norm_1,norm_one,ln1,ln_1,layer_norm1,layer_norm_1,layernorm1,layernorm_1,"          \
      "attention_norm,attn_norm,norm_attn,norm_attention,ln_attn,input_layernorm,"                 \
      "layer_norm_attn,norm1.norm,pre_attn_norm,attn_ln,0.fn.norm,0.norm,"                         \
      "msa_block.layer_norm,msa_block.norm,msa_block.ln,attn_block.norm,attn_block.layer_norm,"    \
      "attention_block.layer_norm,attention_block.norm,mhsa_block.norm,attn.norm,"                 \
      "attention.layer_norm,attention.norm,self_attention.norm,0.fn.0,0.0,layer_norm_before,"      \
      "layernorm_before}.!",                                                                       \
      NORM1_WEIGHT)                                                                                \
  ROW("#$2.in_proj_@0/3|#$2.$6.@0/3|#$2.$7.|#$2.$5.%.$7.|#$2.$7.%.?", QUERY_WEIGHT)                \
  ROW("#$2.in_proj_@1/3|#$2.$6.@1/3|#$2.{to_kv,kv,kv_proj}.@0/2|#$2.$8.|#$2.$5.%.$8.|#$2.$8.%.?",  \
      KEY_WEIGHT)                                                                                  \
  ROW("#$2.in_proj_@2/3|#$2.$6.@2/3|#$2.{to_kv,kv,kv_proj}.@1/2|#$2.$9.|#$2.$5.%.$9.|#$2.$9.%.?",  \
      VALUE_WEIGHT)                                                                                \
  ROW("?#$2.{q_norm,query_norm}.!", QUERY_NORM_WEIGHT)                                             \
  ROW("?#$2.{k_norm,key_norm}.!", KEY_NORM_WEIGHT)                                                 \
  ROW("?#$2.{out_proj,proj,to_out,to_out.0,output_projection,output,out,projection,fc_out,w_o,wo," \
      "W_o,WO,Wo,fc,out_linear,linear,o_proj,proj_out,dense,final_linear,output_layer,out_layer,"  \
      "unify_heads,final_projection,fc_o,linear_out,proj.0,projection.0,out.0,output_linear}.!",   \
      ATTENTION_OUTPUT_WEIGHT)                                                                     \
  ROW("?#{ls1.gamma,gamma_1,gamma1,layer_scale_1,layer_scale1,layer_scale1.gamma}", LAYER_SCALE1)  \
  ROW("#{norm2,norm_2,norm_two,ln2,ln_2,layer_norm2,layer_norm_2,layernorm2,layernorm_2,"          \
      "mlp_norm,ffn_norm,ff_norm,norm_mlp,norm_ffn,norm_ff,ln_mlp,ln_ffn,"                         \
      "post_attention_layernorm,layer_norm_mlp,norm2.norm,pre_mlp_norm,1.fn.norm,1.norm,"          \
      "mlp_block.layer_norm,mlp_block.norm,mlp_block.ln,ff_block.norm,ffn_block.norm,mlp.norm,"    \
      "mlp.layer_norm,feed_forward.norm,feed_forward.layer_norm,1.fn.0,1.net.0,1.0,"               \
      "layer_norm_after,layernorm_after}.!",                                                       \
      NORM2_WEIGHT)                                                                                \
  ROW("#{linear1,linear_1,fc1,lin1}.!|"                                                            \
      "#$3.{fc1,fc_1,linear1,linear_1,dense_1,dense1,lin1,lin_1,w1,w_1,c_fc,layer1,up_proj,"       \
      "intermediate,expand,first,0,net.0,layers.0,1}.!",                                           \
      FC1_WEIGHT)                                                                                  \
  ROW("#{linear2,linear_2,fc2,lin2}.!|"                                                            \
      "#$3.{fc2,fc_2,linear2,linear_2,dense_2,dense2,lin2,lin_2,w2,w_2,c_proj,layer2,"             \
      "down_proj,output,contract,second,2,3,4,net.2,net.3,layers.2,layers.3}.!",                   \
      FC2_WEIGHT)                                                                                  \
  ROW("?#{ls2.gamma,gamma_2,gamma2,layer_scale_2,layer_scale2,layer_scale2.gamma}", LAYER_SCALE2)  \
  ROW("?{&,,encoder.,transformer.}"                                                                \
      "{norm,ln,layer_norm,layernorm,final_norm,norm_final,ln_f,final_layer_norm,encoder_norm,"    \
      "ln_post,post_norm,last_norm,norm_layer,final_ln,layer_norm_final}.!",                       \
      FINAL_NORM_WEIGHT)                                                                           \
  ROW("?$4.{0,1,norm,layer_norm,ln,layernorm,layer_norm1,norm1}.!", HEAD_NORM_WEIGHT)              \
  ROW("?$4.{0,1,2,fc1,linear1,dense1,hidden}.!", HEAD_HIDDEN_WEIGHT)                               \
  ROW("?$4.{6,5,4,3,2,1,0,fc2,linear2,fc,linear,head,classifier,out,dense,proj}.!|$4.!",           \
      CLASSIFIER_WEIGHT)

HEED_NAMES(own, NULL, NULL, ROWS);
